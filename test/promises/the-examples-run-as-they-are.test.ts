import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Gateway } from '../../gateway';
import { runWorkflow, type WorkflowJson } from '../harness';
import { picture } from '../support/data/samples';
import { mp4Of } from '../support/files/boxes';
import { withGateway } from '../support/http/withGateway';
import { costOf, listedCost, readExample, withFolder } from '../support/workflows/examples';
import { credentialFor } from '../support/workflows/workflows';

let gateway: Gateway;
let folder: string;
withGateway(
	{ isTimeSimulated: true, jobSeconds: 0, render: async () => mp4Of(1_000) },
	(world) => void ({ gateway } = world),
);
beforeEach(() => (folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'examples-')))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs an example as it is, except that its media and its folder are here. */
const runExample = async (file: string) => {
	const text = JSON.stringify(withFolder(readExample(file), folder)).replace(
		/https:\/\/example\.com\/[\w-]+\.(png|jpg)/g,
		gateway.addMedia('green.png', picture('green'), 'image/png'),
	);
	const options = { credentials: credentialFor(gateway), filesFolder: folder };
	return await runWorkflow(JSON.parse(text) as WorkflowJson, options);
};

it.each([
	['reference-video-to-file.json', /\.mp4$/],
	['scheduled-daily-video.json', /\.mp4$/],
	['product-pictures.json', /\.png$/],
	['product-videos-from-a-list.json', /\.mp4$/],
	['from-http-request-to-model-gateway.json', /\.mp4$/],
	['storyboard-of-scenes.json', /\.mp4$/],
	['storyboard-to-video.json', /\.mp4$/],
])('runs, saves its files, and costs what the list of examples says: %s', async (file, name) => {
	const result = await runExample(file);
	expect(result.status).toBe('success');
	expect(readdirSync(folder).filter((saved) => name.test(saved)).length).toBeGreaterThan(0);
	expect(costOf(gateway.ledger)).toBe(listedCost(file));
});

it.each(['semantic-search.json', 'support-mail-triage.json'])(
	'runs, and costs what the list of examples says: %s',
	async (file) => {
		expect((await runExample(file)).status).toBe('success');
		expect(costOf(gateway.ledger)).toBe(listedCost(file));
	},
);
