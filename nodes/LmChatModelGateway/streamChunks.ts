/**
 * Gives the pieces that `work` tells as they come, and at the end what it returns. Its signal aborts
 * when nobody takes pieces any more.
 */
export async function* chunksOf<Piece, Result>(
	work: (tell: (piece: Piece) => void, left: AbortSignal) => Promise<Result>,
): AsyncGenerator<Piece, Result, undefined> {
	const left = new AbortController();
	const waiting: Piece[] = [];
	let isDone = false;
	let wake = () => {};
	const result = work((piece) => {
		waiting.push(piece);
		wake();
	}, left.signal).finally(() => {
		isDone = true;
		wake();
	});
	// Thrown below, unless nobody is there to take it.
	result.catch(() => undefined);
	try {
		for (;;) {
			yield* waiting.splice(0);
			if (waiting.length > 0) continue;
			if (isDone) return await result;
			await new Promise<void>((resolve) => (wake = resolve));
		}
	} finally {
		left.abort();
	}
}
