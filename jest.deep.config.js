// `npm run test:deep`: all of what `npm test` tries a sample of. The longest searches are dealt out, because jest gives
// a file to one core.
process.env.TEST_DEPTH = 'deep';

const { maxWorkers, testTimeout, ...base } = require('./jest.config.js');
const parts = { moneyRuns: 8, familyRuns: 2 };
const fileOf = (name) => `<rootDir>/test/deep/${name}.test.ts`;

/** @type {import('jest').Config} */
module.exports = {
	maxWorkers,
	testTimeout,
	projects: [
		{
			...base,
			displayName: 'deep',
			testMatch: ['<rootDir>/test/deep/**/*.test.ts'],
			testPathIgnorePatterns: Object.keys(parts).map(fileOf),
		},
		...Object.entries(parts).flatMap(([name, all]) =>
			Array.from({ length: all }, (_, part) => ({
				...base,
				displayName: `${name}, part ${part + 1} of ${all}`,
				testMatch: [fileOf(name)],
				globals: { [name]: { part, parts: all } },
			})),
		),
	],
};
