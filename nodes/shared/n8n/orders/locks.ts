import { remembered } from '../execution/processMemory';

/** By name, the locks that are held in this process. Each promise resolves when its lock is released. */
const heldLocks = () => remembered('locks', () => new Map<string, Promise<void>>());

/** Waits until this process holds none of these locks, then takes all of them. @returns the release; undefined after abort */
export async function lockAll(
	names: readonly string[],
	signal?: AbortSignal,
): Promise<(() => void) | undefined> {
	const locks = heldLocks();
	let abort = () => {};
	const aborted = new Promise<void>((resolve) => (abort = resolve));
	signal?.addEventListener('abort', abort, { once: true });
	for (;;) {
		const taken = names.flatMap((name) => locks.get(name) ?? []);
		if (taken.length === 0 || signal?.aborted) break;
		await Promise.race([Promise.all(taken), aborted]);
	}
	signal?.removeEventListener('abort', abort);
	if (signal?.aborted) return undefined;

	let end = () => {};
	const lock = new Promise<void>((resolve) => (end = resolve));
	for (const name of names) locks.set(name, lock);
	return () => {
		for (const name of names) locks.delete(name);
		end();
	};
}
