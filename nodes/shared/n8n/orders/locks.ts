import { remembered } from '../execution/processMemory';

/** By name, the locks that are held in this process. Each promise resolves when its lock is released. */
const heldLocks = () => remembered('locks', () => new Map<string, Promise<void>>());

/**
 * Waits until none of these locks is held in this process, then takes all of them.
 * @returns releases them; undefined when the signal aborted first
 */
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
