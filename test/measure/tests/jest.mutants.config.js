const { maxWorkers: _workers, ...base } = require('../../../jest.config.js');

/** @type {import('jest').Config} */
module.exports = {
	...base,
	rootDir: '../../..',
	// Stryker runs those tests of them that reach what it has changed.
	testMatch: ['<rootDir>/test/unit/{gateway,n8n}/**/*.test.ts'],
	testEnvironment: '@stryker-mutator/jest-runner/jest-env/node',
};
