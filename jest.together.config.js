// `npm test`: several test files in one realm, because jest loads n8n's engine anew for each realm, which takes two
// seconds. `npx jest test/engine/waiting` runs a file on its own.
const { readdirSync, statSync } = require('node:fs');
const { availableParallelism } = require('node:os');
const path = require('node:path');

// A project may not have these two.
const { maxWorkers: _, testTimeout, ...base } = require('./jest.config.js');
const parts = { engine: 4, unit: 2 };
/** These change settings that n8n reads once. */
const alone = [path.join('engine', 'files', 'fileHosts.test.ts')];

const tests = path.join(__dirname, 'test');

/** The files of each part. The longest are dealt out first, so that each part takes about as long. */
function deal(suite) {
	const sizeOf = (file) => statSync(path.join(tests, file)).size;
	const files = readdirSync(path.join(tests, suite), { recursive: true })
		.map((file) => path.join(suite, file))
		.filter((file) => file.endsWith('.test.ts') && !alone.includes(file))
		.sort((one, other) => sizeOf(other) - sizeOf(one));
	return Array.from({ length: parts[suite] }, (_, part) =>
		files.filter((_file, index) => index % parts[suite] === part),
	);
}

/** @type {import('jest').Config} */
module.exports = {
	// More than a third of the time is waiting.
	maxWorkers: 2 * availableParallelism(),
	testTimeout,
	reporters: ['default', '<rootDir>/test/reporter.js'],
	projects: [
		...Object.keys(parts).flatMap((suite) =>
			deal(suite).map((files, part) => ({
				...base,
				displayName: `${suite}, part ${part + 1} of ${parts[suite]}`,
				testMatch: ['<rootDir>/test/together.ts'],
				globals: { together: { files } },
			})),
		),
		{
			...base,
			displayName: 'alone',
			testMatch: alone.map((file) => path.join(tests, file)),
		},
	],
};
