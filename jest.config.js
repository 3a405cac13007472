const { availableParallelism } = require('node:os');

// The set-up of the end-to-end tests is TypeScript.
require('tsx/cjs');

const cores = availableParallelism();

/** The longest suite is dealt out, because a file runs on one core. */
const parts = { moneyRuns: 8 };

/** @returns {import('jest').Config} the settings of a suite, whose files share what a worker has loaded */
const suite = (displayName, { env = {}, ...own }) => ({
	displayName,
	testEnvironment: require.resolve('./test/runner/environment.js'),
	runtime: '<rootDir>/test/runner/runtime.js',
	testEnvironmentOptions: { env },
	setupFilesAfterEnv: ['aiNodeSdk', 'cleanUp', 'secrets'].map(
		(name) => `<rootDir>/test/support/setup/${name}.ts`,
	),
	moduleFileExtensions: ['ts', 'js', 'json', 'node'],
	// The runtime loads TypeScript.
	transform: {},
	haste: { enableSymlinks: false },
	...own,
});

const { FUZZ_FACTOR = '1' } = process.env;
const deep = (files, env) =>
	suite('deep', {
		roots: ['<rootDir>/test/deep'],
		testMatch: [`**/${files}.test.ts`],
		env: { FUZZ_FACTOR, ...env },
	});

/** @type {import('jest').Config} */
module.exports = {
	reporters: [
		'default',
		'<rootDir>/test/runner/reporter.js',
		// Says at the top of the page of the run which tests failed, and why.
		...(process.env.GITHUB_ACTIONS ? ['github-actions'] : []),
	],
	// Much of what the tests do is waiting.
	maxWorkers: 2 * cores,
	// Even a single file runs in a process of its own, which ends with everything that n8n has left open.
	workerIdleMemoryLimit: '3GB',
	// In milliseconds: whatever takes longer has come to a stop.
	testTimeout: 180_000,
	projects: [
		suite('quick', {
			roots: ['promises', 'unit', 'engine'].map((folder) => `<rootDir>/test/${folder}`),
			testMatch: ['**/*.test.ts'],
		}),
		deep(`!(${Object.keys(parts).join('|')})`),
		...Object.entries(parts).flatMap(([name, all]) =>
			Array.from({ length: all }, (_, part) =>
				deep(name, { PART: String(part), PARTS: String(all) }),
			),
		),
		// Each worker has an n8n of its own. Most files wait for n8n's minute.
		suite('e2e', {
			roots: ['<rootDir>/test/e2e'],
			testMatch: ['**/*.e2e.ts'],
			globalSetup: '<rootDir>/test/e2e/support/globalSetup.ts',
			globalTeardown: '<rootDir>/test/e2e/support/globalTeardown.ts',
		}),
		suite('world', {
			roots: ['<rootDir>/test/world'],
			testMatch: ['**/*.world.ts'],
		}),
	],
};
