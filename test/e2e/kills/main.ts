import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { print, printFigures, printSummary, type Figure } from '../../bench/report';
import { randomFrom } from '../../gateway/rendering/random';
import { sweep, type Fate, type SweepOptions } from './sweep';

const usage = `Ends a complete n8n in the midst of workflows that order, await and save videos, with all settings as they
come; starts it again, and looks what became of each. It needs no key and talks to this machine only.

  npm run test:kills -- [options]

  --rounds <number>     how often n8n is ended by each signal (2)
  --workflows <number>  how many are started in a round (22)
  --seed <text>         what the moments are drawn from (1)
  --help                this text

The exit code is 1 when a video was lost, or charged twice.`;

/** Seconds, such that n8n's end meets workflows from their first step to their last. */
const videoSeconds = 120;
const secondsApart = 7;
const longestDown = 90;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			rounds: { type: 'string', default: '2' },
			workflows: { type: 'string', default: '22' },
			seed: { type: 'string', default: '1' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return print(usage);
	process.once('SIGINT', () => process.exit(130));

	const kinds = Array.from({ length: Number(values.workflows) }, () => 'active' as const);
	const rounds = Number(values.rounds);
	const round = async (
		title: string,
		how: Pick<SweepOptions, 'signal' | 'inPass'>,
		share: number,
	) => {
		print(`\n${pc.bold(title)}`);
		const random = randomFrom(`${values.seed} ${title}`);
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
	figures.push(...figuresOf(title, fates));

	print();
	printFigures(figures);
	print();
	printSummary(figures);
	if (figures.some(({ met }) => met === false)) process.exitCode = 1;
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

main().catch((error: Error) => {
	process.stderr.write(`${pc.red('The sweep broke:')} ${error.stack}\n`);
	process.exitCode = 1;
});
