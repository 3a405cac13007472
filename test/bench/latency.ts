import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isFinal } from '../../nodes/shared/gateway/protocol/jobs';
import { ensureInstallation } from '../e2e/support/installation';
import { startN8n } from '../e2e/support/n8n';
import { fetchPublished, Owner } from '../e2e/support/owner';
import { core, modelGateway, startedBy, waitForVideo } from '../e2e/support/workflows';
import { sampleVideo } from '../engine/support/samples';
import { startGateway } from '../gateway';
import { packInto } from '../support/packed';
import type { Figure } from './report';
import { percentile } from './statistics';

/** Of the videos, in seconds. */
const lengths = [30, 120, 300];
const ways = { hold: 'kept running', auto: 'parked' } as const;
/** Executions of each way and length, begun at moments spread over the minute between two looks of n8n. */
const runs = 12;

/** How long a finished video waits until the next node has it, in a complete n8n and with its real clock. */
export async function benchLatency(): Promise<Figure[]> {
	await ensureInstallation();
	const folder = mkdtempSync(path.join(tmpdir(), 'bench-latency-'));
	const video = await sampleVideo();
	const gateway = await startGateway({
		jobSeconds: ({ order }) => Number(order.prompt),
		render: async () => video,
	});
	const ends = new Map<string, number>();
	gateway.on('job', ({ id, phase }) => void (isFinal(phase) && ends.set(id, Date.now())));
	const n8n = await startN8n({ folder, tarball: packInto(folder).tarball });
	try {
		const owner = await Owner.of(n8n);
		const credential = await owner.createCredential(gateway);
		const order = { resource: 'video', operation: 'create' };
		const model = { __rl: true, mode: 'id', value: 'vid-3.1' };
		const measure = async (whileWaiting: keyof typeof ways) => {
			const hook = core('Start', 'webhook', { path: whileWaiting }, 2);
			const workflow = await owner.createWorkflow(
				startedBy(
					hook,
					modelGateway(
						{ ...order, model, prompt: '={{ $json.query.seconds }}' },
						credential,
						'Create',
					),
					waitForVideo({ whileWaiting }, credential),
					core('After', 'noOp'),
				),
			);
			await owner.publish(workflow);
			for (let run = 0; run < runs; run++) {
				for (const seconds of lengths) {
					await fetchPublished(`${n8n.url}/webhook/${whileWaiting}?seconds=${seconds}`);
				}
				await setTimeout(60_000 / runs);
			}
			const found: Array<{ length: number; delay: number }> = [];
			for (const { id } of await owner.executionsOf(workflow, runs * lengths.length)) {
				const { data } = await owner.ended(id, Math.max(...lengths) + 180);
				const { After, Create } = data.resultData.runData;
				const job = String(Create[0].data?.main[0]?.[0].json.id);
				const length = Number(gateway.jobs.get(job)?.order.prompt);
				found.push({ length, delay: (After[0].startTime - (ends.get(job) ?? NaN)) / 1000 });
			}
			return found;
		};
		const ofEach = await Promise.all(
			(Object.keys(ways) as Array<keyof typeof ways>).map(async (way) => ({
				way,
				found: await measure(way),
			})),
		);
		return lengths.flatMap((length) =>
			ofEach.map(({ way, found }) => {
				const delays = found.filter((each) => each.length === length).map(({ delay }) => delay);
				const [p50, p95] = [50, 95].map((share) => percentile(delays, share).toFixed(1));
				return {
					figure: `video of ${length} s, ${ways[way]}: until it goes on`,
					value: `p50 ${p50} s, p95 ${p95} s (${delays.length} runs)`,
				};
			}),
		);
	} finally {
		await n8n.stop();
		await gateway.close();
		rmSync(folder, { recursive: true, force: true });
	}
}
