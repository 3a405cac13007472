const path = require('node:path');
const pc = require('picocolors');

const root = path.join(__dirname, '..');

/** How many of the slowest files are named. */
const shown = 5;

/**
 * `npm test` runs several files as one (jest.together.config.js), so jest's own summary counts parts. This one names the
 * slowest files, and the command that runs a failed file again.
 */
module.exports = class FileReporter {
	onRunComplete(_contexts, { testResults }) {
		const files = new Map();
		for (const { testFilePath, testResults: tests } of testResults) {
			const alone = path.relative(root, testFilePath);
			for (const { ancestorTitles, duration, status } of tests) {
				const name = alone === 'test/together.ts' ? `test/${ancestorTitles[0]}` : alone;
				const file = files.get(name) ?? { seconds: 0, hasFailed: false };
				file.seconds += (duration ?? 0) / 1000;
				file.hasFailed ||= status === 'failed';
				files.set(name, file);
			}
		}
		const sorted = [...files].sort(([, one], [, other]) => other.seconds - one.seconds);
		const failed = sorted.filter(([, { hasFailed }]) => hasFailed);
		const lines = [
			`Test files:  ${failed.length > 0 ? `${failed.length} failed, ` : ''}${files.size} total`,
			`The slowest: ${sorted
				.slice(0, shown)
				.map(([name, { seconds }]) => `${name} ${seconds.toFixed(1)} s`)
				.join(', ')}`,
			...failed.map(([name]) => pc.red(`Run it again: npx jest ${name}`)),
		];
		process.stderr.write(`\n${lines.join('\n')}\n`);
	}
};
