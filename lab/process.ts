import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A module whose `serve` runs in its own process. @typeParam Serve its type */
export interface Script<Serve> {
	file: string;
	/** In megabytes; default: that of Node.js, which depends on the machine. */
	heapLimit?: number;
	serve?: Serve;
}

type Work = (...args: never[]) => Promise<object>;

/** The result of `serve`: JSON values, and functions that are called in its process. */
export type Remote<Served> = {
	[Name in keyof Served]: Served[Name] extends (...args: infer Args) => infer Result
		? (...args: Args) => Promise<Awaited<Result>>
		: Served[Name];
};

const heapFlag = '--max-old-space-size=';

interface Report {
	values: object;
	functions: string[];
}

interface Call {
	name: string;
	args: unknown[];
}

/**
 * Runs a script in its own process, which ends when its result has been used.
 * @throws Error when the process ends without a result
 */
export async function withProcess<Serve extends Work, Result>(
	{ file, heapLimit }: Script<Serve>,
	args: Parameters<Serve>,
	use: (served: Remote<Awaited<ReturnType<Serve>>>) => Promise<Result>,
): Promise<Result> {
	const child = fork(__filename, [file, JSON.stringify(args)], {
		// Ctrl-C only reaches this process. The child notices its end, and cleans up.
		detached: true,
		// A limit of this process is not one of those that it starts.
		execArgv: [
			...process.execArgv.filter((arg) => !arg.startsWith(heapFlag)),
			...(heapLimit === undefined ? [] : [heapFlag + heapLimit]),
		],
	});
	const ended = once(child, 'exit');
	const failed = ended.then(([code]) => {
		throw new Error(`${file} ended with code ${code} before it responded`);
	});
	// The process also ends after a success, when nothing awaits this promise.
	failed.catch(() => undefined);
	let last: Promise<unknown> = Promise.resolve();
	/** Calls one after another, so that the next message is the response. */
	const request = async <Message>(call?: Call): Promise<Message> => {
		const own = last.then(async () => {
			const message = once(child, 'message');
			if (call) child.send(call);
			const [received] = (await Promise.race([message, failed])) as [Message];
			return received;
		});
		last = own.catch(() => undefined);
		return await own;
	};
	try {
		const { values, functions } = await request<Report>();
		const calls = functions.map((name) => [
			name,
			async (...args: unknown[]) => (await request<{ result: unknown }>({ name, args })).result,
		]);
		return await use({ ...values, ...Object.fromEntries(calls) });
	} finally {
		if (child.connected) child.disconnect();
		await ended;
	}
}

/** Runs a script in its own process. @returns its result */
export async function inProcess<Serve extends Work>(
	script: Script<Serve>,
	args: Parameters<Serve>,
) {
	return await withProcess(script, args, async (served) => served);
}

async function serve([file, args]: string[]): Promise<void> {
	process.once('disconnect', () => process.exit());
	const { serve: work } = (await import(file)) as {
		serve: (...args: unknown[]) => Promise<object>;
	};
	const served = (await work(...(JSON.parse(args) as unknown[]))) as Record<
		string,
		(...args: unknown[]) => unknown
	>;
	process.on('message', async ({ name, args: given }: Call) => {
		process.send?.({ result: await served[name](...given) });
	});
	const functions = Object.keys(served).filter((name) => typeof served[name] === 'function');
	process.send?.({ values: served, functions });
}

if (require.main === module) void serve(process.argv.slice(2));
