// `npm run test:deep`: all of what `npm test` tries a sample of. The money runs are dealt out, because jest gives a
// file to one core.
process.env.TEST_DEPTH = 'deep';

const { maxWorkers, testTimeout, ...base } = require('./jest.config.js');
const money = '<rootDir>/test/deep/moneyRuns.test.ts';
const parts = 8;

/** @type {import('jest').Config} */
module.exports = {
	maxWorkers,
	testTimeout,
	projects: [
		{
			...base,
			displayName: 'deep',
			testMatch: ['<rootDir>/test/deep/**/*.test.ts'],
			testPathIgnorePatterns: [money],
		},
		...Array.from({ length: parts }, (_, part) => ({
			...base,
			displayName: `part ${part + 1} of ${parts}`,
			testMatch: [money],
			globals: { moneyRuns: { part, parts } },
		})),
	],
};
