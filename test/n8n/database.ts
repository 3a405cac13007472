import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { run } from './commands';
import { ensurePackage } from './debian';
import { freePort } from './n8n';

/** A PostgreSQL for n8n's own data. */
export interface Database {
	readonly pid: number;
	/** The settings by which n8n uses it. */
	readonly env: Record<string, string>;
	/** @returns the rows of a query, each as its columns */
	query(sql: string): Promise<string[][]>;
	/**
	 * Stops the server as an operator does: it closes all connections, and keeps what was committed.
	 * @param mode of PostgreSQL: `immediate` is how it ends in a crash, and the next start recovers from its log
	 */
	shutDown(mode?: 'fast' | 'immediate'): Promise<void>;
	/** Starts it again with its data, at the same port. */
	start(): Promise<void>;
	/** Ends it, and removes its data. */
	stop(): Promise<void>;
}

const versions = '/usr/lib/postgresql';
const name = 'postgres';
/** Separates columns, which may contain any JSON text. */
const separator = '\u001f';

/** Starts an empty PostgreSQL on loopback. Installs Debian's package where it is missing, and uses its settings. */
export async function startDatabase(): Promise<Database> {
	if (!existsSync(versions)) await ensurePackage('postgresql');
	const [version] = readdirSync(versions).sort((a, b) => Number(b) - Number(a));
	const command = (program: string) => path.join(versions, version, 'bin', program);
	// In its own folder, because the user that PostgreSQL runs as cannot open those of n8n.
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-database-'));
	const user = serverUser();
	if (user) chownSync(folder, user.uid, user.gid);
	const init = spawnSync(
		command('initdb'),
		['--pgdata', folder, '--username', name, '--auth', 'trust', '--encoding', 'UTF8'],
		{ ...user, cwd: folder, stdio: 'pipe' },
	);
	if (init.status !== 0) throw new Error(`PostgreSQL was not set up: ${String(init.stderr)}`);

	const port = await freePort();
	const settings = {
		port,
		listen_addresses: '127.0.0.1',
		unix_socket_directories: '',
		max_connections: 200,
	};
	const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
	let server: ChildProcess;
	let ended: Promise<unknown>;
	// The children of a killed server would keep running. At this signal, the server ends them and itself at once.
	const endAtOnce = () => server.kill('SIGQUIT');
	const endWithUs = () => {
		endAtOnce();
		rmSync(folder, { recursive: true, force: true });
	};

	const query = async (sql: string) => {
		const address = ['-h', '127.0.0.1', '-p', String(port), '-U', name];
		const format = ['-X', '-A', '-t', '-q', '-F', separator];
		const printed = await run(command('psql'), [...address, ...format, '-c', sql], { quiet: true });
		const lines = printed.split('\n').filter((line) => line !== '');
		return lines.map((line) => line.split(separator));
	};
	const start = async () => {
		server = spawn(command('postgres'), ['-D', folder, ...flags], {
			...user,
			cwd: folder,
			stdio: 'ignore',
		});
		ended = once(server, 'exit');
		for (let tries = 0; ; tries++) {
			const isThere = await query('SELECT 1').then(
				() => true,
				() => false,
			);
			if (isThere) return;
			if (server.exitCode !== null || tries === 100) throw new Error('PostgreSQL did not start');
			await setTimeout(100);
		}
	};
	process.once('exit', endWithUs);
	await start();
	return {
		get pid() {
			return server.pid as number;
		},
		env: {
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: String(port),
			DB_POSTGRESDB_DATABASE: name,
			DB_POSTGRESDB_USER: name,
			DB_POSTGRESDB_PASSWORD: name,
		},
		query,
		async shutDown(mode = 'fast') {
			server.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
			await ended;
		},
		start,
		async stop() {
			endAtOnce();
			await ended;
			process.off('exit', endWithUs);
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

/** PostgreSQL refuses to run as root: its package creates a user for it. */
function serverUser(): { uid: number; gid: number } | undefined {
	if (process.getuid?.() !== 0) return undefined;
	const id = (flag: string) => Number(spawnSync('id', [flag, name]).stdout);
	return { uid: id('-u'), gid: id('-g') };
}
