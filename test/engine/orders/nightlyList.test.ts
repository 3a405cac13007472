import type { IDataObject } from 'n8n-workflow';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Gateway } from '../../../gateway';
import { resumeToEnd, runWorkflow, type WorkflowJson } from '../../harness';
import { sampleVideo } from '../../support/data/samples';
import {
	readExample,
	settingsOf,
	withFolder,
	withSettings,
} from '../../support/workflows/examples';
import { core, credentialFor } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// The steps of docs/many-videos.md, "50 videos overnight".

let gateway: Gateway;
let media: IDataObject[];
let folder: string;

withGateway(
	{ isTimeSimulated: true, jobSeconds: 0, render: async () => await sampleVideo() },
	(world) => void ({ gateway, media } = world),
);
// Rendered before, because simulated time would pass meanwhile.
beforeAll(async () => void (await sampleVideo()));
beforeEach(() => {
	folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'nightly-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

const file = 'product-videos-from-a-list.json';

/** The example after the steps of the guide. */
function nightlyList(): WorkflowJson {
	const example = withFolder(readExample(file), folder);
	const options: Record<string, IDataObject> = {
		'Create Video': { limits: { maxOrdersPerDay: 60 } },
		'Wait for Video': { timeoutMinutes: 120 },
	};
	const nodes = example.nodes.map((node) => {
		if (node.name === 'Start') return { ...core('Start', 'scheduleTrigger', {}, 1.2) };
		const own = { ...(node.parameters?.options as IDataObject), ...options[node.name] };
		return node.name in options
			? { ...node, parameters: { ...node.parameters, options: own } }
			: node;
	}) as WorkflowJson['nodes'];
	return { ...example, nodes };
}

const products = (): IDataObject[] =>
	(settingsOf(readExample(file)).products as IDataObject[]).map((product) => ({
		...product,
		pictures: [media[0].url],
		seconds: 2,
	}));

async function night(list: IDataObject[]) {
	const first = await runWorkflow(withSettings(nightlyList(), { products: list }), {
		...{ credentials: credentialFor(gateway), mode: 'trigger', filesFolder: folder },
	});
	const parked = first.status;
	const run = await resumeToEnd(first);
	return { parked, run };
}

const saved = () => readdirSync(folder).map((name) => name.replace(/-task_.*/, ''));

const ordered = () => gateway.jobs.list().length;

it('orders and saves only what is new when a scheduled list runs again', async () => {
	const [mug, lamp, shoe] = products();
	const refused = { ...shoe, prompt: '[blocked]' };
	const { parked, run } = await night([mug, lamp, refused]);
	expect([parked, run.status]).toEqual(['waiting', 'success']);
	expect(run.items('Failed Products')[0].json).toMatchObject({
		...{ product: shoe.product, job: 'none in this run' },
	});
	expect(saved().sort()).toEqual([lamp.product, mug.product]);

	// A cell of a sheet may be empty.
	const next = await night([mug, { ...lamp, take: '' }, shoe]);
	expect(next.run.status).toBe('success');
	expect(ordered()).toBe(3);
	expect(saved().sort()).toEqual([lamp.product, shoe.product, mug.product].sort());
	const skipped = next.run.items('Create Video').filter(({ json }) => json.ordered === false);
	expect(skipped.map(({ json }) => json.order_key)).toEqual([
		`${String(mug.product)} take 1`,
		`${String(lamp.product)} take 1`,
	]);

	const again = await night([mug, { ...lamp, take: 2 }, shoe]);
	expect(again.run.status).toBe('success');
	expect(ordered()).toBe(4);
});
