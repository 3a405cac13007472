/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	// Not only the tests: `--watch` has to see what they rest on.
	roots: ['<rootDir>/credentials', '<rootDir>/nodes', '<rootDir>/test'],
	testMatch: ['**/*.test.ts'],
	// n8n's scanner has no sample: it runs in `npm run test:deep` only.
	testPathIgnorePatterns: ['<rootDir>/test/e2e/', '<rootDir>/test/deep/scan.test.ts'],
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
	setupFilesAfterEnv: ['<rootDir>/test/support/secrets.ts'],
	testTimeout: 60_000,
	// Much of what the tests do is waiting.
	maxWorkers: '100%',
};
