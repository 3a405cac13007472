import pc from 'picocolors';

export function print(text = ''): void {
	process.stdout.write(`${text}\n`);
}

/** Prints one event with the time of day. */
export function report(event: string): void {
	print(`${pc.dim(new Date().toTimeString().slice(0, 8))}  ${event}`);
}

export function megabytes(bytes: number): string {
	return `${(bytes / 1e6).toFixed(1)} MB`;
}
