// n8n reads its settings once, when n8n-core is loaded, so this file has to be loaded first. jest loads it for every
// test file (setupFiles), and index.ts loads it for everything else.
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { types } from 'node:util';
import 'reflect-metadata';

// n8n creates the folder when it first needs it, so a test that never starts the engine leaves nothing behind.
const home = path.join(tmpdir(), `n8n-harness-${randomUUID()}`);

process.env.N8N_USER_FOLDER = home;
process.env.N8N_ENCRYPTION_KEY = 'harness-encryption-key';
// n8n logs into a file, which the tests search for keys.
process.env.N8N_LOG_LEVEL = 'debug';
process.env.N8N_LOG_OUTPUT = 'file';
process.env.N8N_LOG_FILE_LOCATION = path.join(home, 'n8n.log');

/** Removes n8n's settings and every binary file that the executions stored. */
export function removeHome() {
	rmSync(home, { recursive: true, force: true });
}

// jest runs a test file in its own realm, where the errors of Node's modules are not `instanceof Error`. n8n and the
// nodes rely on that, for example to recognise a file that does not exist yet.
if (process.env.JEST_WORKER_ID) {
	const isInstance = Function.prototype[Symbol.hasInstance];
	Object.defineProperty(Error, Symbol.hasInstance, {
		value(this: unknown, value: unknown) {
			return isInstance.call(this, value) || (this === Error && types.isNativeError(value));
		},
	});
}
