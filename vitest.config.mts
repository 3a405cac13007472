import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { defineConfig, type UserWorkspaceConfig } from 'vitest/config';

const { resolve } = createRequire(import.meta.url);

/** The longest suites are dealt out, because a file runs on one core. */
const parts = { moneyRuns: 8, familyRuns: 4 };

const cores = availableParallelism();

function suite(name: string, include: string[], test: Partial<UserWorkspaceConfig['test']>) {
	const setupFiles = ['aiNodeSdk', 'cleanUp', 'secrets'].map(
		(name) => `test/support/setup/${name}.ts`,
	);
	const hookTimeout = test?.testTimeout;
	return { extends: true as const, test: { name, include, setupFiles, hookTimeout, ...test } };
}

/** They compute more than they wait. */
const deep = {
	maxWorkers: cores,
	sequence: { groupOrder: 1 },
	testTimeout: 180_000,
	env: { FUZZ_FACTOR: process.env.FUZZ_FACTOR ?? '1' },
};

export default defineConfig({
	resolve: {
		// n8n-core requires the CommonJS build. With a second copy, its errors would not be n8n's errors.
		alias: [{ find: /^n8n-workflow$/, replacement: resolve('n8n-workflow') }],
	},
	test: {
		globals: true,
		// Test files share a process one after another: n8n's engine takes two seconds to load.
		isolate: false,
		experimental: { fsModuleCache: true },
		reporters: ['default', './test/reporter.mjs'],
		projects: [
			suite('quick', ['test/{unit,engine,promises}/**/*.test.ts'], {
				// Much of what these tests do is waiting.
				maxWorkers: 2 * cores,
				testTimeout: 60_000,
			}),
			suite('deep', ['test/deep/**/*.test.ts'], {
				...deep,
				exclude: Object.keys(parts).map((name) => `**/${name}.test.ts`),
			}),
			...Object.entries(parts).flatMap(([name, all]) =>
				Array.from({ length: all }, (_, part) =>
					suite(`deep: ${name}, part ${part + 1} of ${all}`, [`test/deep/${name}.test.ts`], {
						...deep,
						env: { ...deep.env, PART: String(part), PARTS: String(all) },
					}),
				),
			),
			// Each worker has an n8n of its own. Most files wait for n8n's minute.
			suite('e2e', ['test/e2e/**/*.e2e.ts'], {
				globalSetup: './test/e2e/support/globalSetup.ts',
				maxWorkers: 3,
				sequence: { groupOrder: 2 },
				testTimeout: 120_000,
			}),
			suite('world', ['test/world/*.world.ts'], {
				maxWorkers: 3,
				sequence: { groupOrder: 3 },
				testTimeout: 170_000,
				env: {
					NODE_EXTRA_CA_CERTS: 'test/fixtures/tls/certificate.pem',
					// n8n provides @n8n/ai-node-sdk to the chat model, and the engine of the tests does not.
					NODE_PATH: 'test/world/node_modules',
				},
			}),
		],
	},
});
