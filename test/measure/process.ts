import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A module whose `serve` runs in a process of its own. @typeParam Serve its type */
export interface Script<Serve> {
	file: string;
	serve?: Serve;
}

type Work = (...args: never[]) => Promise<object>;

/** What `serve` gave: values that JSON can hold, and functions that are called over there. */
export type Remote<Served> = {
	[Name in keyof Served]: Served[Name] extends (...args: infer Args) => infer Result
		? (...args: Args) => Promise<Awaited<Result>>
		: Served[Name];
};

interface Report {
	values: object;
	functions: string[];
}

interface Call {
	name: string;
	args: unknown[];
}

/**
 * Runs a script in a process of its own, and ends that when what it gave has been used.
 * Throws when it ends without having given anything.
 */
export async function withProcess<Serve extends Work, Result>(
	{ file }: Script<Serve>,
	args: Parameters<Serve>,
	use: (served: Remote<Awaited<ReturnType<Serve>>>) => Promise<Result>,
): Promise<Result> {
	const child = fork(__filename, [file, JSON.stringify(args)], {
		// Ctrl-C is for this process; the other one notices its end, and cleans up.
		detached: true,
	});
	const ended = once(child, 'exit');
	const failed = ended.then(([code]) => {
		throw new Error(`${file} ended with code ${code} before it answered`);
	});
	// It also ends when all is well.
	failed.catch(() => undefined);
	let last: Promise<unknown> = Promise.resolve();
	/** One call after another: the next message is the answer. */
	const answer = async <Message>(call?: Call): Promise<Message> => {
		const own = last.then(async () => {
			const message = once(child, 'message');
			if (call) child.send(call);
			const [got] = (await Promise.race([message, failed])) as [Message];
			return got;
		});
		last = own.catch(() => undefined);
		return await own;
	};
	try {
		const { values, functions } = await answer<Report>();
		const calls = functions.map((name) => [
			name,
			async (...args: unknown[]) => (await answer<{ result: unknown }>({ name, args })).result,
		]);
		return await use({ ...values, ...Object.fromEntries(calls) });
	} finally {
		if (child.connected) child.disconnect();
		await ended;
	}
}

/** Runs a script in a process of its own, and gives what it gave. */
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
