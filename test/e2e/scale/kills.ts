import pc from 'picocolors';
import { print, type Figure } from '../../bench/report';
import { sampleVideo, withTitle } from '../../engine/support/samples';
import { ways, type Fate } from './fates';
import { House, soonNoticed } from './house';
import { playRound, type RoundOptions } from './round';
import { collectWorkflow, videoWorkflow } from './workflows';

type Strike = RoundOptions['strike'];

const killWorker: Strike = async (house, release) => {
	await house.running[0].end('SIGKILL');
	release();
	await house.startWorker();
};

const killMain: Strike = async (house, release) => {
	await house.queue.killMain();
	release();
	await house.startMain();
};

/** As when the machine that all of them share loses its power. */
const killAll: Strike = async (house, release) => {
	const workers = house.running;
	await Promise.all([
		house.queue.killMain(),
		house.webhook.process.end('SIGKILL'),
		...workers.map(async ({ end }) => await end('SIGKILL')),
	]);
	release();
	await Promise.all([
		house.startMain(),
		house.startWebhook(),
		...workers.map(async () => await house.startWorker()),
	]);
};

/** As an update does it: one process after another is stopped as a container is, and started again. */
const restartAll: Strike = async (house, release) => {
	const [first, ...others] = house.running;
	const ending = first.end('SIGTERM');
	// What is under way may end in time.
	release();
	await ending;
	await house.startWorker();
	for (const { end } of others) {
		await end('SIGTERM');
		await house.startWorker();
	}
	await house.webhook.process.end('SIGTERM');
	await house.startWebhook();
	await house.queue.main.stop();
	await house.startMain();
};

const strikes: Record<string, Strike> = {
	'One of two workers killed': killWorker,
	'Main process killed': killMain,
	'All processes killed': killAll,
	'Rolling restart': restartAll,
};

export interface KillsOptions {
	/** One worker killed, with few executions. */
	isSmall: boolean;
}

/** Ends processes of n8n in the midst of creates, passes and downloads. */
export async function killsSection({ isSmall }: KillsOptions): Promise<Figure[]> {
	const video = await sampleVideo();
	const gateway = {
		jobSeconds: 1,
		render: async ({ caption }: { caption: string }) => withTitle(video, caption),
	};
	const each = isSmall ? 4 : 10;
	// A worker has room for all, so that every moment is reached at once.
	const options = { gateway, concurrency: 6 * each, env: soonNoticed };
	return await House.with(options, async (house) => {
		const workflows = {
			video: await house.publish(videoWorkflow('video', house.places)),
			collect: await house.publish(collectWorkflow('collect', house.places)),
		};
		const figures: Figure[] = [];
		for (const [title, strike] of Object.entries(strikes).slice(0, isSmall ? 1 : undefined)) {
			print(`\n${pc.bold(title)}`);
			const started = performance.now();
			const report = (line: string) =>
				print(`  ${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}`);
			const fates = await playRound(house, workflows, { title, each, strike, report });
			printFates(fates);
			figures.push(...figuresOf(title, fates));
		}
		return figures;
	});
}

function printFates(fates: Fate[]): void {
	const row = (cells: string[]) => {
		const widths = [10, 20, 16, 20, 8, 10];
		return `  ${cells.map((cell, index) => cell.padEnd(widths[index])).join('  ')}`.trimEnd();
	};
	print(
		pc.dim(
			`\n${row(['moment', 'its video came', 'n8n emptied it', 'ID found in', 'charges', 'deliveries'])}`,
		),
	);
	for (const { moment, way, isEmptied, foundIn, charges, deliveries } of fates) {
		print(row([moment, way, isEmptied ? 'yes' : '', foundIn, String(charges), String(deliveries)]));
	}
}

function figuresOf(title: string, fates: Fate[]): Figure[] {
	const count = (is: (fate: Fate) => boolean) => fates.filter(is).length;
	const none = (figure: string, is: (fate: Fate) => boolean): Figure => {
		const found = count(is);
		return { figure: `${title}: ${figure}`, value: String(found), goal: '0', met: found === 0 };
	};
	return [
		...ways.slice(0, -1).map((way) => ({
			figure: `${title}: ${way}`,
			value: `${count((fate) => fate.way === way)} of ${fates.length}`,
		})),
		{
			figure: `${title}: emptied by n8n`,
			value: String(count(({ isEmptied }) => isEmptied)),
		},
		none('lost', ({ way }) => way === 'lost'),
		none('charged twice', ({ charges }) => charges > 1),
		none('delivered twice', ({ deliveries }) => deliveries > 1),
	];
}
