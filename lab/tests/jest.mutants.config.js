const { maxWorkers: _workers, ...base } = require('../../jest.config.js');

/** @type {import('jest').Config} The test files to run are in `globals.together`, which mutants.ts sets. */
module.exports = {
	...base,
	rootDir: '../..',
	testMatch: ['<rootDir>/test/together.ts'],
	// Stryker replaces no <rootDir> here.
	testEnvironment: require.resolve('./firstFailure.cjs'),
};
