/** A piece of a workflow's stream, and when it arrived, in milliseconds of `performance.now()`. */
export interface ArrivedChunk {
	at: number;
	type: string;
	content?: string;
	metadata: { nodeName: string };
}

/** Everything that a webhook or a chat streams, one JSON object a line. */
export async function arrivedChunks(response: Response): Promise<ArrivedChunk[]> {
	const decoder = new TextDecoder();
	const pieces: Array<{ at: number; text: string }> = [];
	for await (const bytes of response.body ?? []) {
		pieces.push({ at: performance.now(), text: decoder.decode(bytes, { stream: true }) });
	}
	return pieces
		.flatMap(({ at, text }) => text.split('\n').map((line) => ({ at, line })))
		.filter(({ line }) => line.trim() !== '')
		.map(({ at, line }) => ({ at, ...(JSON.parse(line) as Omit<ArrivedChunk, 'at'>) }));
}
