const path = require('node:path');
const { projects, ...shared } = require('../../jest.config');

const { MUTANT_TESTS: tests = '' } = process.env;

/** The settings of `npm test` for the test files that mutants.ts names, in the one process that Stryker allows. */
module.exports = {
	...shared,
	...projects.find(({ displayName }) => displayName === 'quick'),
	rootDir: path.join(__dirname, '../..'),
	testEnvironment: require.resolve('./mutants.environment'),
	testMatch: tests.split(' ').map((pattern) => `<rootDir>/${pattern}`),
	runner: require.resolve('./mutants.runner'),
	reporters: [],
	// In milliseconds: a mutant that waits for ever fails here, because Stryker would start its process anew.
	testTimeout: 10_000,
};
