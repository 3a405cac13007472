/**
 * Yields the chunks of `work` when it emits them, and returns its result. The signal that `work` gets aborts when the
 * consumer stops reading.
 */
export async function* chunksOf<Chunk, Result>(
	work: (emit: (chunk: Chunk) => void, abandoned: AbortSignal) => Promise<Result>,
): AsyncGenerator<Chunk, Result, undefined> {
	const abandoned = new AbortController();
	const pending: Chunk[] = [];
	let isFinished = false;
	let wake = () => {};
	const result = work((chunk) => {
		pending.push(chunk);
		wake();
	}, abandoned.signal).finally(() => {
		isFinished = true;
		wake();
	});
	// The error is thrown below. Without a consumer, it must not become an unhandled rejection.
	result.catch(() => undefined);
	try {
		for (;;) {
			// Not yield*: an array takes no error, so a reader that throws one in would get a TypeError instead of it.
			for (const chunk of pending.splice(0)) yield chunk;
			if (pending.length > 0) continue;
			if (isFinished) return await result;
			await new Promise<void>((resolve) => (wake = resolve));
		}
	} finally {
		abandoned.abort();
	}
}
