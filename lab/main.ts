/** The command that runs all measurements: `npm run measure -- <name>`. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { inspect, parseArgs } from 'node:util';
import pc from 'picocolors';
import { aligned } from '../test/support/pages/markdown';
import { UsageError, type Measurement, type Option } from './measurement';
import { measurements } from './measurements';
import { print, printFigures, printSummary, type Figure } from './report';

interface Task {
	measurement: Measurement;
	values: Record<string, string | number | boolean>;
	only: string[];
}

const overview = `Measures what this package promises. It needs no key, and contacts only this machine.

  npm run measure -- <name> [<name> ...] [options]
  npm run measure -- all
  npm run measure -- <name> --help

${aligned([
	['name', 'what it measures', 'how long'],
	...measurements.map(({ name, summary, duration }) => [name, summary, duration]),
])}

The exit code is 1 when a goal is missed.`;

function usageOf({ name, summary, duration, parts, notes, ...own }: Measurement): string {
	const partsText = Object.entries(parts ?? {}).map(([part, about]) => `    ${part}: ${about}`);
	const rows = [
		...Object.entries(own.options ?? {}).map(([option, { default: standard, about }]) =>
			typeof standard === 'boolean'
				? [`--${option}`, about]
				: [
						`--${option} <${typeof standard === 'number' ? 'number' : 'text'}>`,
						`${about} (${standard})`,
					],
		),
		...(parts ? [['--only <part>', 'one part; repeat it for more:']] : []),
		['--help', 'this text'],
	];
	const options = rows.flatMap(([option, about]) => [
		`  ${option.padEnd(22)}${about}`,
		...(option.startsWith('--only') ? partsText : []),
	]);
	return [
		`${summary} (${duration}).`,
		'',
		`  npm run measure -- ${name} [options]`,
		'',
		...options,
		...(notes ? ['', ...notes] : []),
	].join('\n');
}

/** @returns the measurements that the command line asks for, or a text @throws UsageError */
function tasksOf(args: string[]): Task[] | string {
	const { names, only, help, given } = parsed(args);
	if (names.length === 0 && (help || args.length === 0)) return overview;
	if (names.length === 0) {
		throw new UsageError(`Name what to measure: ${namesOf(measurements)}, or all`);
	}
	const named = names.includes('all') ? measurements : names.map(measurementOf);
	if (help) return named.map(usageOf).join('\n\n');
	const parts = named.flatMap((one) => Object.keys(one.parts ?? {}));
	const options = [
		...named.flatMap((one) => Object.keys(one.options ?? {})),
		...(parts.length > 0 ? ['only'] : []),
	];
	const unknown = [...given.keys(), ...(only.length > 0 ? ['only'] : [])].find(
		(option) => !options.includes(option),
	);
	if (unknown !== undefined) {
		const list = options.map((option) => `--${option}`).join(', ') || 'none';
		throw new UsageError(`${namesOf(named)} has no option --${unknown}; its options: ${list}`);
	}
	const unknownPart = only.find((part) => !parts.includes(part));
	if (unknownPart !== undefined) {
		throw new UsageError(`There is no part "${unknownPart}": choose from ${parts.join(', ')}`);
	}
	return named.map((measurement) => ({
		measurement,
		values: Object.fromEntries(
			Object.entries(measurement.options ?? {}).map(([name, option]) => [
				name,
				valueOf(name, option, given.get(name)),
			]),
		),
		only: Object.keys(measurement.parts ?? {}).filter(
			(part) => only.length === 0 || only.includes(part),
		),
	}));
}

function parsed(args: string[]) {
	const own = measurements.flatMap(({ options = {} }) => Object.entries(options));
	const types = own.map(([name, { default: standard }]) => {
		const type = typeof standard === 'boolean' ? ('boolean' as const) : ('string' as const);
		return [name, { type }] as const;
	});
	const options = {
		...Object.fromEntries(types),
		only: { type: 'string', multiple: true },
		help: { type: 'boolean' },
	} as const;
	try {
		const { values, positionals: names } = parseArgs({ args, options, allowPositionals: true });
		const { only = [], help = false, ...given } = values;
		return { names, only, help, given: new Map(Object.entries(given)) };
	} catch (error) {
		const [reason] = (error as Error).message.split('. ');
		throw new UsageError(`${reason}: npm run measure -- <name> --help lists the options`);
	}
}

function measurementOf(name: string): Measurement {
	const found = measurements.find((one) => one.name === name);
	if (found) return found;
	throw new UsageError(`There is no "${name}": choose from ${namesOf(measurements)}, or all`);
}

const namesOf = (those: Measurement[]) => those.map(({ name }) => name).join(', ');

function valueOf(name: string, { default: standard }: Option, given: unknown) {
	if (given === undefined) return standard;
	if (typeof standard !== 'number') return given as string | boolean;
	if (Number(given) > 0) return Number(given);
	throw new UsageError(`--${name} must be a number above 0, not "${String(given)}"`);
}

async function main(): Promise<void> {
	const tasks = tasksOf(process.argv.slice(2));
	if (typeof tasks === 'string') return print(tasks);
	// An orderly exit also stops what was started, and removes what was written to the disk.
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.once(signal, () => process.exit(130));
	}
	const needs = tasks.map(({ measurement }) => measurement.needs);
	if (needs.some(Boolean))
		execFileSync('npm', ['run', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
	if (needs.includes('n8n')) {
		const { ensureInstallation, testedVersion } = await import('../test/n8n/installation.js');
		await ensureInstallation(testedVersion);
	}

	const machine = `${availableParallelism()} cores (${cpus()[0].model})`;
	print(`Node.js ${process.version}, ${machine}, load average ${loadavg()[0].toFixed(1)}`);
	const figures: Figure[] = [];
	for (const { measurement, values, only } of tasks) {
		print(`\n${pc.bold(measurement.name)}: ${measurement.summary}`);
		const begun = performance.now();
		const cpu = process.cpuUsage();
		const measured = await measurement.run(values, only);
		if (measured.length > 0) printFigures(measured);
		for (const note of measurement.notes ?? []) print(pc.dim(note));
		const { user, system } = process.cpuUsage(cpu);
		const seconds = [(performance.now() - begun) / 1000, (user + system) / 1e6];
		const [taken, computed] = seconds.map((value) => value.toFixed(1));
		print(`It took ${taken} s. This process used ${computed} s of CPU.`);
		figures.push(...measured);
	}
	if (printSummary(figures).length > 0) process.exitCode = 1;
}

main().catch((error: Error) => {
	const text = error instanceof UsageError ? error.message : inspect(error);
	process.stderr.write(`${pc.red(text)}\n`);
	process.exitCode = 1;
});
