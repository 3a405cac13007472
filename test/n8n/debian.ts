import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { run } from './commands';

/**
 * Installs the Debian packages whose commands are missing, if this process is allowed to.
 * @param wanted package names by command
 */
export async function ensureCommands(wanted: Record<string, string>): Promise<void> {
	const missing = Object.entries(wanted)
		.filter(([command]) => locate(command) === undefined)
		.map(([, name]) => name);
	if (missing.length > 0) await ensurePackage(...missing);
}

/** Installs Debian packages, if this process is allowed to. */
export async function ensurePackage(...missing: string[]): Promise<void> {
	const install = `apt-get install --yes --no-install-recommends ${missing.join(' ')}`;
	if (process.getuid?.() !== 0 || locate('apt-get') === undefined) {
		throw new Error(
			`Missing: ${missing.join(', ')}. Install them, on Debian with: sudo ${install}`,
		);
	}
	await apt('update');
	await apt(...install.split(' ').slice(1));
}

/** Another program may be installing packages, such as the updates of a machine that has just started. */
async function apt(...args: string[]): Promise<void> {
	const env = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
	for (let tries = 1; ; tries++) {
		try {
			return void (await run('apt-get', args, { env }));
		} catch (error) {
			if (!/could not get lock/i.test(String(error)) || tries === 120) throw error;
			process.stderr.write('Another program is installing packages. Waiting for it ...\n');
			await setTimeout(5_000);
		}
	}
}

/** The place of a command on the PATH. */
export function locate(command: string): string | undefined {
	return (process.env.PATH ?? '')
		.split(path.delimiter)
		.map((folder) => path.join(folder, command))
		.find((file) => existsSync(file));
}
