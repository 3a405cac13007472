import axios from 'axios';
import { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import type { Http } from '../../nodes/shared/gateway/client/http';

interface AxiosHttpOptions {
	/** Goes along with authenticated requests. */
	key: string;
	/** Told of the work that the network does, so that a simulated clock can let it finish. */
	during?: <T>(work: Promise<T>) => Promise<T>;
}

/** The gateway layer's HTTP by axios, which n8n uses too. */
export function axiosHttp({ key, during = async (work) => await work }: AxiosHttpOptions): Http {
	// A connection of its own for every request: none outlives its test.
	const httpAgent = new Agent({ keepAlive: false });

	return async ({ authenticated, body, headers, ...request }) => {
		const { status, ...response } = await during(
			axios.request<Readable>({
				...request,
				httpAgent,
				headers: { ...headers, ...(authenticated && { Authorization: `Bearer ${key}` }) },
				data: body,
				responseType: 'stream',
				decompress: true,
				maxRedirects: 0,
				// As n8n has it: axios then wraps the body.
				maxContentLength: Infinity,
				proxy: false,
				validateStatus: () => true,
			}),
		);
		const stream = response.data;
		// A broken connection is reported where the body is read; nobody may be reading it yet.
		stream.on('error', () => undefined);
		return {
			status,
			headers: Object.fromEntries(
				Object.entries(response.headers).map(([name, value]) => [
					name.toLowerCase(),
					String(value),
				]),
			),
			body: piecesOf(stream, during),
			close: () => void stream.destroy(),
		};
	};
}

async function* piecesOf(
	stream: Readable,
	during: NonNullable<AxiosHttpOptions['during']>,
): AsyncGenerator<Uint8Array, void, undefined> {
	const pieces: AsyncIterator<Uint8Array> = stream[Symbol.asyncIterator]();
	try {
		for (;;) {
			const piece = await during(pieces.next());
			if (piece.done) return;
			yield piece.value;
		}
	} finally {
		stream.destroy();
	}
}
