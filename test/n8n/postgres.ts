import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { defaultVersion, nodeBinary } from './installation';

interface Postgres {
	/** The data of n8n's credential type `postgres`. */
	credential: Record<string, string | number>;
	stop(): Promise<void>;
}

/** Starts an empty database with the extension pgvector. */
export async function startPostgres(): Promise<Postgres> {
	const child = spawn(nodeBinary(defaultVersion), [path.join(__dirname, 'postgresServer.mjs')], {
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
	const own = 'postgres';
	return {
		credential: {
			...{ host: '127.0.0.1', port: Number(port), ssl: 'disable' },
			...{ database: own, user: own, password: own },
		},
		async stop() {
			const ended = once(child, 'exit');
			child.stdin.end();
			await ended;
		},
	};
}
