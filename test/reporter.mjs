import path from 'node:path';
import pc from 'picocolors';

/** How many of the slowest files are named. */
const shown = 5;

/** Names the slowest test files, and the command that runs a failed one again. */
export default class FileReporter {
	onTestRunEnd(modules) {
		const files = modules.map((module) => ({
			name: path.relative('', module.moduleId),
			seconds: module.diagnostic().duration / 1000,
			isOk: module.ok(),
		}));
		files.sort((one, other) => other.seconds - one.seconds);
		const slowest = files
			.slice(0, shown)
			.map(({ name, seconds }) => `${name} ${seconds.toFixed(1)} s`);
		const failed = files.filter(({ isOk }) => !isOk);
		const lines = [
			`The slowest: ${slowest.join(', ')}`,
			...failed.map(({ name }) => pc.red(`Run it again: npx vitest run ${name}`)),
		];
		process.stderr.write(`\n${lines.join('\n')}\n`);
	}
}
