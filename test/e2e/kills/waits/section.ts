import pc from 'picocolors';
import { print, type Figure } from '../../../bench/report';
import { randomFrom } from '../../../gateway/rendering/random';
import { sweep, type Fate, type SweepOptions } from './sweep';

export interface WaitsOptions {
	/** How often n8n is ended by each signal. */
	rounds: number;
	/** How many are started in a round. */
	workflows: number;
	/** What the moments are drawn from. */
	seed: string;
}

/** Seconds, such that n8n's end meets workflows from their first step to their last. */
const videoSeconds = 120;
const secondsApart = 7;
const longestDown = 90;

/** Ends n8n in the midst of workflows that await videos: by each signal, and in a pass of all. */
export async function waitsSection({ rounds, workflows, seed }: WaitsOptions): Promise<Figure[]> {
	const kinds = Array.from({ length: workflows }, () => 'active' as const);
	const round = async (
		title: string,
		how: Pick<SweepOptions, 'signal' | 'inPass'>,
		share: number,
	) => {
		print(`\n${pc.bold(title)}`);
		const random = randomFrom(`${seed} ${title}`);
		return await sweep({
			...{ kinds, secondsApart, videoSeconds, ...how },
			killAfter: random() * secondsApart,
			downSeconds: Math.round(share * longestDown),
			report: (line: string) => print(`  ${line}`),
		});
	};

	const figures: Figure[] = [];
	for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
		const fates: Fate[] = [];
		for (let count = 1; count <= rounds; count++) {
			fates.push(...(await round(`${signal}, round ${count}`, { signal }, (count - 0.5) / rounds)));
		}
		printFates(fates);
		figures.push(...figuresOf(signal, fates, signal === 'SIGKILL' ? 0.9 : 1));
	}
	const inPass = [...kinds.keys()];
	const title = 'SIGKILL in a pass of all';
	const fates = await round(title, { signal: 'SIGKILL', inPass }, 0);
	printFates(fates);
	return [...figures, ...figuresOf(title, fates)];
}

function printFates(fates: Fate[]): void {
	print(pc.dim('\n  workflow  age when n8n ended  phase      outcome       charges  videos whole'));
	for (const { name, age, phase, outcome, charges, isWhole } of fates) {
		const cells = [
			...[name.padEnd(8), `${age.toFixed(1)} s`.padEnd(18), phase.padEnd(9), outcome.padEnd(12)],
			...[charges.join(' ').padEnd(7), isWhole ? 'yes' : 'NO'],
		];
		print(`  ${cells.join('  ')}`);
	}
}

/** @param share of those under way that are to go on by themselves */
function figuresOf(title: string, fates: Fate[], share?: number): Figure[] {
	const count = (is: (fate: Fate) => boolean) => fates.filter(is).length;
	const underWay = count(({ outcome }) => outcome !== 'before');
	const byItself = count(({ outcome }) => outcome === 'byItself');
	const least = share === undefined ? undefined : Math.ceil(underWay * share);
	const lost = count(({ outcome }) => outcome === 'lost');
	const twice = count(({ charges, isInCreate }) => !isInCreate && charges.some((n) => n !== 1));
	return [
		{
			figure: `${title}: went on by itself`,
			value: `${byItself} of ${underWay} under way`,
			...(least !== undefined && { goal: `at least ${least}`, met: byItself >= least }),
		},
		{
			figure: `${title}: after one Retry`,
			value: String(count(({ outcome }) => outcome === 'afterRetry')),
		},
		{ figure: `${title}: lost`, value: String(lost), goal: '0', met: lost === 0 },
		{ figure: `${title}: charged twice`, value: String(twice), goal: '0', met: twice === 0 },
		{
			figure: `${title}: ended in the middle of a create`,
			value: String(count(({ isInCreate }) => isInCreate)),
		},
	];
}
