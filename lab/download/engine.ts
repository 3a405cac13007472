/** Runs in its own process: n8n's engine, which downloads one large video with one node. */
import { setTimeout } from 'node:timers/promises';
import { chain, waitForVideo } from '../../test/support/workflows/workflows';
import { runWorkflow, type WorkflowRun } from '../../test/harness';
import { memory, resetPeak } from '../n8n/processUsage';
import type { FinishedVideo, Service } from './service';

/** The cost of the download of the large video. */
export interface Download {
	seconds: number;
	/** Peak memory of the process minus its memory before, in bytes. */
	growth: number;
}

/** Each takes a {@link FinishedVideo} as its item. */
const nodes = {
	waitForVideo: waitForVideo(),
	httpRequest: {
		name: 'Wait for Video',
		type: 'n8n-nodes-base.httpRequest',
		parameters: {
			url: '={{ $json.url }}',
			options: { response: { response: { responseFormat: 'file' } } },
		},
	},
};
type NodeName = keyof typeof nodes;

/** Measures one download of the large video. The harness deletes what n8n stored when the process ends. */
export async function serve(node: NodeName, service: Service): Promise<Download> {
	const { url: baseUrl, apiKey, small, large } = service;
	const download = async (video: FinishedVideo) =>
		await runWorkflow(chain(nodes[node]), {
			credentials: node === 'waitForVideo' ? { modelGatewayApi: { apiKey, baseUrl } } : {},
			input: [{ json: { ...video } }],
			binaryDataMode: 'filesystem',
		});

	await checkFile(await download(small), small);
	// Garbage from loading and warming up would hide a part of the growth.
	globalThis.gc?.();
	await setTimeout(500);
	resetPeak(process.pid);
	const { now } = memory(process.pid);
	const run = await download(large);
	const growth = memory(process.pid).peak - now;
	await checkFile(run, large);
	const { executionTime } = run.data.resultData.runData['Wait for Video'][0];
	return { seconds: executionTime / 1000, growth };
}

/** @throws Error when n8n has stored less or more than the file */
async function checkFile(run: WorkflowRun, { bytes }: FinishedVideo): Promise<void> {
	let stored = 0;
	const [item] = run.items('Wait for Video');
	for await (const piece of await run.binaryStream(item)) stored += (piece as Buffer).length;
	if (stored !== bytes) throw new Error(`The file has ${stored} bytes instead of ${bytes}`);
}
