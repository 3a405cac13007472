import pc from 'picocolors';
import { sweep, type Fate, type SweepOptions } from './sweep';
import { randomFrom } from '../../../gateway/random';
import { atLeast, none, print, printTable, type Figure } from '../../report';

export interface WaitsOptions {
	/** How often n8n is stopped with each signal. */
	rounds: number;
	/** How many workflows are started in a round. */
	workflows: number;
	/** The seed of the random moments. */
	seed: string;
}

/** Seconds, chosen so that n8n is stopped during every step of some workflow. */
const videoSeconds = 120;
const secondsApart = 7;
const longestDown = 90;

/** Stops n8n while workflows wait for videos: with each signal, and during a pass of all. */
export async function measureWaitKills({
	rounds,
	workflows,
	seed,
}: WaitsOptions): Promise<Figure[]> {
	const kinds = Array.from({ length: workflows }, () => 'active' as const);
	const round = async (
		title: string,
		how: Pick<SweepOptions, 'signal' | 'inPass'>,
		share: number,
	) => {
		print(`\n${pc.bold(title)}`);
		const random = randomFrom(`${seed} ${title}`);
		return await sweep({
			kinds,
			secondsApart,
			videoSeconds,
			...how,
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
	printTable([
		['workflow', 'age when n8n stopped', 'phase', 'outcome', 'charges', 'videos whole'],
		...fates.map(({ name, age, phase, outcome, charges, isWhole }) => [
			name,
			`${age.toFixed(1)} s`,
			phase,
			outcome,
			charges.join(' '),
			isWhole ? 'yes' : 'NO',
		]),
	]);
}

/** @param share of those under way that have to resume by themselves */
function figuresOf(title: string, fates: Fate[], share?: number): Figure[] {
	const count = (is: (fate: Fate) => boolean) => fates.filter(is).length;
	const underWay = count(({ outcome }) => outcome !== 'before');
	const byItself = count(({ outcome }) => outcome === 'byItself');
	const lost = count(({ outcome }) => outcome === 'lost');
	const twice = count(({ charges, isInCreate }) => !isInCreate && charges.some((n) => n !== 1));
	const figure = `${title}: resumed by themselves`;
	const value = `${byItself} of ${underWay} under way`;
	return [
		share === undefined
			? { figure, value }
			: atLeast(figure, byItself, Math.ceil(underWay * share), { value }),
		{
			figure: `${title}: resumed after one Retry`,
			value: String(count(({ outcome }) => outcome === 'afterRetry')),
		},
		none(`${title}: lost`, lost),
		none(`${title}: charged twice`, twice),
		{
			figure: `${title}: stopped during a create`,
			value: String(count(({ isInCreate }) => isInCreate)),
		},
	];
}
