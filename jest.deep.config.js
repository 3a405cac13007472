// `npm run test:deep`: combinations, and searches by chance. The longest are dealt out, because jest gives a file to one
// core.
process.env.FUZZ_FACTOR ??= '1';

// A project may not have these two.
const { maxWorkers: _workers, testTimeout: _timeout, ...base } = require('./jest.config.js');
const parts = { moneyRuns: 8, familyRuns: 4 };
const fileOf = (name) => `<rootDir>/test/deep/${name}.test.ts`;

/** @type {import('jest').Config} */
module.exports = {
	// They compute more than they wait.
	maxWorkers: '100%',
	testTimeout: 180_000,
	projects: [
		{
			...base,
			displayName: 'deep',
			testMatch: [
				'<rootDir>/test/deep/**/*.test.ts',
				'<rootDir>/test/unit/package/{patterns,hostileTexts}.test.ts',
			],
			globals: { hostileLength: 1_000_000 },
			testPathIgnorePatterns: Object.keys(parts).map(fileOf),
		},
		...Object.entries(parts).flatMap(([name, all]) =>
			Array.from({ length: all }, (_, part) => ({
				...base,
				displayName: `${name}, part ${part + 1} of ${all}`,
				testMatch: [fileOf(name)],
				testPathIgnorePatterns: [],
				globals: { [name]: { part, parts: all } },
			})),
		),
	],
};
