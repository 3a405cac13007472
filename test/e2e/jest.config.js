const { transform } = require('../../jest.config.js');

/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	testMatch: ['**/*.e2e.ts'],
	transform,
	setupFilesAfterEnv: ['../support/secrets.ts'],
	globalSetup: './support/globalSetup.ts',
	globalTeardown: './support/globalTeardown.ts',
	// One n8n serves all files, and two cores do not drive two browsers.
	maxWorkers: 1,
	testTimeout: 120_000,
};
