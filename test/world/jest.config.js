const { transform } = require('../../jest.config.js');

const [[, swc]] = Object.entries(transform);

/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	testMatch: ['**/*.world.ts'],
	// The packages of the AI SDK are ES modules only, and so is what they import.
	transform: { ...transform, '/node_modules/(ai|@ai-sdk|@workflow|zod)/.+\\.js$': swc },
	transformIgnorePatterns: ['/node_modules/(?!(ai|@ai-sdk|@workflow|zod)/)'],
	// n8n provides it to the chat model, and the engine of the tests does not.
	moduleNameMapper: { '^@n8n/ai-node-sdk$': '<rootDir>/node_modules/@n8n/ai-node-sdk' },
	setupFiles: ['../harness/setup.ts'],
	setupFilesAfterEnv: ['../support/setup/secrets.ts', '../support/setup/cleanUp.ts'],
	// They wait more than they compute.
	maxWorkers: 3,
	testTimeout: 170_000,
};
