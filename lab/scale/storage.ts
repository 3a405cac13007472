import { print, type Figure } from '../report';
import { mp4Of } from '../../test/support/files/boxes';
import { earlierJob } from '../../test/support/workflows/earlierJobs';
import { core } from '../../test/support/workflows/workflows';
import { isOpen } from '../../test/n8n/owner';
import { memory, resetPeak } from '../n8n/processUsage';
import { until } from '../../test/support/time/until';
import { Deployment } from './deployment';
import { collectWorkflow } from './workflows';

const modes = ['filesystem', 'database'] as const;
type Mode = (typeof modes)[number];

/** Measures one video of this size, with n8n's files in a folder that all processes share, and in the database. */
export async function measureStorage(megabytes: number): Promise<Figure[]> {
	const figures: Figure[] = [];
	for (const mode of modes) figures.push(...(await store(mode, megabytes)));
	return figures;
}

async function store(mode: Mode, megabytes: number): Promise<Figure[]> {
	const options = {
		gateway: { jobSeconds: Infinity },
		workers: 1,
		env: {
			N8N_DEFAULT_BINARY_DATA_MODE: mode,
			// n8n's default is 512, its maximum 1024.
			N8N_BINARY_DATA_DATABASE_MAX_FILE_SIZE: String(megabytes + 100),
		},
	};
	return await Deployment.with(options, async (deployment) => {
		const workflow = await deployment.publish(
			collectWorkflow('large', deployment.environment, core('Next', 'noOp')),
		);
		const [{ pid }] = deployment.running;
		/** @returns the seconds from the start of the download to the end of the execution */
		const deliver = async (size: number, count: number) => {
			// The video has random bytes, which no database can compress.
			const { id: job } = earlierJob(deployment.gateway, 'video', mp4Of(size * 1024 ** 2));
			await deployment.call('large', { name: String(count), id: job });
			const over = async () =>
				(await deployment.executions(workflow)).filter((one) => !isOpen(one)).length;
			await until(async () => (await over()) === count, 400);
			const { id } = (await deployment.executions(workflow))[count - 1];
			const [download] = deployment.gateway.requests.filter(
				({ route, url }) => route === 'download' && url.includes(job),
			);
			const [[end]] = await deployment.database.query(
				`SELECT extract(epoch FROM "stoppedAt") FROM execution_entity WHERE id = ${id}`,
			);
			return {
				execution: await deployment.owner.execution(id),
				seconds: Number(end) - download.at / 1000,
			};
		};
		const size = async () =>
			Number(
				(await deployment.database.query('SELECT pg_database_size(current_database())'))[0][0],
			);
		await deliver(1, 1);
		const bytesBefore = await size();
		resetPeak(pid);
		const { now: memoryBefore } = memory(pid);
		const {
			seconds,
			execution: { status },
		} = await deliver(megabytes, 2);
		const memoryGrown = (memory(pid).peak - memoryBefore) / 1024 ** 2;
		const grown = ((await size()) - bytesBefore) / 1024 ** 2;
		const title = `${megabytes} MB, files in the ${mode === 'database' ? 'database' : 'file system'}`;
		print(`  ${title}: ${status}`);
		const figures: Figure[] = [
			{
				figure: `${title}: from the download to the end`,
				value: `${seconds.toFixed(1)} s, ${status}`,
			},
			{ figure: "  growth of the worker's memory", value: `${memoryGrown.toFixed(0)} MB` },
			{ figure: '  growth of the database', value: `${grown.toFixed(0)} MB` },
		];
		if (mode === 'filesystem') return figures;
		const { execution } = await deliver(megabytes + 150, 3);
		const { error } = execution.data.resultData;
		print(`  too large for the database: ${error?.message}`);
		print(`    ${(error as { description?: string } | undefined)?.description}`);
		return figures;
	});
}
