import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { print, printFigures, printSummary, type Figure } from '../../bench/report';
import { randomFrom } from '../../gateway/rendering/random';
import { sweep, type Fate } from './sweep';

const signals = ['SIGKILL', 'SIGTERM'] as const;

const usage = `Ends a complete n8n in the midst of workflows that order, await and save videos, with all settings as they
come; starts it again, and looks what became of each. It needs no key and talks to this machine only.

  npm run test:kills -- [options]

  --rounds <number>     how often n8n is ended by each signal (2)
  --workflows <number>  how many are under way in a round (20)
  --seed <text>         what the moments are drawn from (1)
  --help                this text

The exit code is 1 when a video was lost, or charged twice.`;

/** Seconds, such that n8n's end meets workflows from their first step to their last. */
const videoSeconds = 60;
const secondsApart = 6;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			rounds: { type: 'string', default: '2' },
			workflows: { type: 'string', default: '20' },
			seed: { type: 'string', default: '1' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return print(usage);
	process.once('SIGINT', () => process.exit(130));

	const figures: Figure[] = [];
	for (const signal of signals) {
		const random = randomFrom(`${values.seed} ${signal}`);
		const fates: Fate[] = [];
		for (let round = 1; round <= Number(values.rounds); round++) {
			print(`\n${pc.bold(`${signal}, round ${round}`)}`);
			const options = {
				...{ signal, secondsApart, videoSeconds },
				kinds: Array.from({ length: Number(values.workflows) }, () => 'active' as const),
				killAfter: random() * secondsApart,
				downSeconds: Math.round(random() * 90),
				report: (line: string) => print(`  ${line}`),
			};
			fates.push(...(await sweep(options)));
		}
		printFates(fates);
		figures.push(...figuresOf(signal, fates));
	}
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

function figuresOf(signal: (typeof signals)[number], fates: Fate[]): Figure[] {
	const count = (is: (fate: Fate) => boolean) => fates.filter(is).length;
	const met = fates.filter(({ outcome }) => outcome !== 'before');
	const byItself = count(({ outcome }) => outcome === 'byItself');
	const least = Math.floor(met.length * (signal === 'SIGKILL' ? 0.9 : 1));
	const lost = count(({ outcome }) => outcome === 'lost');
	const twice = count(({ charges, isInCreate }) => !isInCreate && charges.some((n) => n !== 1));
	return [
		{
			figure: `${signal}: went on by itself`,
			value: `${byItself} of ${met.length}`,
			goal: `at least ${least}`,
			met: byItself >= least,
		},
		{
			figure: `${signal}: after one Retry`,
			value: String(count(({ outcome }) => outcome === 'afterRetry')),
		},
		{ figure: `${signal}: lost`, value: String(lost), goal: '0', met: lost === 0 },
		{ figure: `${signal}: charged twice`, value: String(twice), goal: '0', met: twice === 0 },
		{
			figure: `${signal}: ended in the middle of a create`,
			value: String(count(({ isInCreate }) => isInCreate)),
		},
	];
}

main().catch((error: Error) => {
	process.stderr.write(`${pc.red('The sweep broke:')} ${error.stack}\n`);
	process.exitCode = 1;
});
