/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	roots: ['<rootDir>/test'],
	testMatch: ['**/*.test.ts'],
	testPathIgnorePatterns: ['<rootDir>/test/e2e/'],
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
