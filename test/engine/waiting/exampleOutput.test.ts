import type { IDataObject } from 'n8n-workflow';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Gateway } from '../../../gateway';
import { resumeToEnd, runWorkflow } from '../../harness';
import {
	chain,
	createReferenceVideo,
	credentialFor,
	waitForVideo,
} from '../../support/workflows/workflows';
import { sampleVideo } from '../../support/data/samples';
import { withGateway } from '../../support/http/withGateway';

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ isTimeSimulated: true, jobSeconds: 0, render: async () => await sampleVideo() },
	(world) => void ({ gateway, media } = world),
);
// Rendered before, because simulated time would pass meanwhile.
beforeAll(async () => void (await sampleVideo()));

/** The first block of JSON in the section of the guide. */
function shownOutput(): IDataObject {
	const guide = readFileSync(path.join(__dirname, '../../../docs/first-video.md'), 'utf8');
	const [, section] = guide.split('## What you get');
	const [, json] = /```json\n(.*?)```/s.exec(section) ?? [];
	return JSON.parse(json) as IDataObject;
}

it('returns the fields that docs/first-video.md shows', async () => {
	const run = await runWorkflow(chain(createReferenceVideo(), waitForVideo()), {
		...{ credentials: credentialFor(gateway), mode: 'trigger', input: [{ json: { media } }] },
	});
	const [{ json, binary }] = (await resumeToEnd(run)).items('Wait for Video');
	const shown = shownOutput();
	expect(Object.keys(shown)).toEqual(Object.keys(json));
	expect(binary).toHaveProperty('data');
	for (const { task_id, job_id, result_url, video_url } of [json, shown]) {
		expect([job_id, video_url]).toEqual([task_id, result_url]);
	}
});
