/** By name: ends when whoever in this process has the lock lets go of it. */
export const locks = new Map<string, Promise<void>>();

/**
 * Waits until nobody in this process has any of these locks, then takes all of them.
 * @returns lets go of them; undefined when the signal aborted first
 */
export async function lockAll(
	names: readonly string[],
	signal?: AbortSignal,
): Promise<(() => void) | undefined> {
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
