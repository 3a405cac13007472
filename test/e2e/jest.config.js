const { transform } = require('../../jest.config.js');

/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	testMatch: ['**/*.e2e.ts'],
	transform,
	setupFilesAfterEnv: ['../support/setup/secrets.ts'],
	globalSetup: './support/globalSetup.ts',
	globalTeardown: './support/globalTeardown.ts',
	// Each has an n8n of its own. Most files wait for n8n's minute.
	maxWorkers: 3,
	testTimeout: 120_000,
};
