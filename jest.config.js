const { availableParallelism } = require('node:os');

/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	// Not only the tests: `--watch` has to see what they rest on.
	roots: ['<rootDir>/credentials', '<rootDir>/nodes', '<rootDir>/gateway', '<rootDir>/test'],
	testMatch: ['**/*.test.ts'],
	// `npm run test:e2e` and `npm run test:deep` run these.
	testPathIgnorePatterns: ['<rootDir>/test/e2e/', '<rootDir>/test/deep/'],
	transform: {
		'^.+\\.ts$': [
			'@swc/jest',
			{
				jsc: { parser: { syntax: 'typescript' }, target: 'es2022', keepClassNames: true },
				module: { type: 'commonjs' },
				sourceMaps: 'inline',
			},
		],
	},
	setupFiles: ['<rootDir>/test/harness/setup.ts'],
	setupFilesAfterEnv: [
		'<rootDir>/test/support/setup/secrets.ts',
		'<rootDir>/test/support/setup/cleanUp.ts',
	],
	testTimeout: 60_000,
	// Much of what the tests do is waiting.
	maxWorkers: Math.ceil(1.5 * availableParallelism()),
};
