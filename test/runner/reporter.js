const path = require('node:path');
const pc = require('picocolors');

/** How many of the slowest files are named. */
const shown = 5;

/** Names the slowest test files, and the command that runs a failed one again. */
module.exports = class FileReporter {
	onRunComplete(_, { testResults }) {
		const files = testResults.map(({ testFilePath, perfStats, ...counts }) => ({
			name: path.relative('', testFilePath),
			seconds: perfStats.runtime / 1000,
			isFailed: counts.numFailingTests > 0 || counts.testExecError !== undefined,
		}));
		files.sort((one, other) => other.seconds - one.seconds);
		const slowest = files
			.slice(0, shown)
			.map(({ name, seconds }) => `${name} ${seconds.toFixed(1)} s`);
		const failed = files.filter(({ isFailed }) => isFailed);
		const lines = [
			`On Node.js ${process.version}, the slowest: ${slowest.join(', ')}`,
			...failed.map(({ name }) => pc.red(`Run it again: npx jest ${name}`)),
		];
		process.stderr.write(`\n${lines.join('\n')}\n`);
	}
};
