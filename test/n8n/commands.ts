import { spawn } from 'node:child_process';
import { once } from 'node:events';

interface CommandOptions {
	cwd?: string;
	/** Added to the environment of this process. */
	env?: Record<string, string>;
	/** Collects what the command prints instead of showing it. */
	quiet?: boolean;
}

/** Runs a command to its end. @returns what it printed @throws Error with its output when it fails */
export async function run(
	command: string,
	args: string[],
	{ cwd, env, quiet = false }: CommandOptions = {},
): Promise<string> {
	const child = spawn(command, args, {
		cwd,
		env: { ...process.env, ...env },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let output = '';
	let printed = '';
	child.stdout.on('data', (bytes: Buffer) => {
		printed += String(bytes);
	});
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (bytes: Buffer) => {
			output += String(bytes);
			if (!quiet) process.stderr.write(bytes);
		});
	}
	const [code] = (await once(child, 'close')) as [number | null];
	if (code !== 0) {
		throw new Error(`\`${command} ${args.join(' ')}\` ended with ${code}:\n${output.slice(-4000)}`);
	}
	return printed;
}
