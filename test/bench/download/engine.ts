/** A process of its own: the engine of n8n, which downloads one large video by one node. */
import { setTimeout as sleep } from 'node:timers/promises';
import { chain, waitForVideo } from '../../engine/support/workflows';
import { runWorkflow, type WorkflowRun } from '../../harness';
import { reportTo } from '../helperProcess';
import type { FinishedVideo, Service } from './service';

/** What it took to download the large video. */
export interface Download {
	seconds: number;
	/** Bytes by which the process was larger than before, at its largest. */
	growth: number;
}

/** Each takes a {@link FinishedVideo} as its item. */
const nodes = {
	waitForVideo: waitForVideo(),
	httpRequest: {
		name: 'Wait',
		type: 'n8n-nodes-base.httpRequest',
		parameters: {
			url: '={{ $json.url }}',
			options: { response: { response: { responseFormat: 'file' } } },
		},
	},
};
export type NodeName = keyof typeof nodes;

const sampleMilliseconds = 20;

async function measure(node: NodeName, service: Service): Promise<Download> {
	const { url: baseUrl, apiKey, small, large } = service;
	const download = async (video: FinishedVideo) =>
		await runWorkflow(chain(nodes[node]), {
			credentials: node === 'waitForVideo' ? { modelGatewayApi: { apiKey, baseUrl } } : {},
			input: [{ json: { ...video } }],
			binaryDataMode: 'filesystem',
		});

	await checkFile(await download(small), small);
	const { result, growth } = await growthDuring(async () => await download(large));
	await checkFile(result, large);
	const { executionTime } = result.data.resultData.runData.Wait[0];
	return { seconds: executionTime / 1000, growth };
}

/** Throws when n8n's store has less, or more, than the file. */
async function checkFile(run: WorkflowRun, { bytes }: FinishedVideo): Promise<void> {
	let stored = 0;
	const [item] = run.items('Wait');
	for await (const piece of await run.binaryStream(item)) stored += (piece as Buffer).length;
	if (stored !== bytes) throw new Error(`The file has ${stored} bytes instead of ${bytes}`);
}

async function growthDuring<T>(work: () => Promise<T>): Promise<{ result: T; growth: number }> {
	// What loading and warming up have left behind would hide a part of the growth.
	globalThis.gc?.();
	await sleep(500);
	const before = process.memoryUsage.rss();
	let largest = before;
	const sampling = setInterval(() => {
		largest = Math.max(largest, process.memoryUsage.rss());
	}, sampleMilliseconds);
	try {
		const result = await work();
		return { result, growth: largest - before };
	} finally {
		clearInterval(sampling);
	}
}

// The harness deletes what n8n stored when the process ends.
const [node, service] = process.argv.slice(2);
reportTo(async () => await measure(node as NodeName, JSON.parse(service) as Service));
