import axios from 'axios';
import { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import type { Http } from '../../../nodes/shared/service/client/http';
import { lookUp } from './publicNames';

interface AxiosHttpOptions {
	/** Sent with authenticated requests. */
	key: string;
	/** Called with each piece of network work, so that a simulated clock can let it finish. */
	during?: <T>(work: Promise<T>) => Promise<T>;
}

/** The HTTP client of the gateway layer, built on axios, which n8n uses too. */
export function axiosHttp({ key, during = async (work) => await work }: AxiosHttpOptions): Http {
	// Every request has its own connection, so none outlives its test.
	const httpAgent = new Agent({ keepAlive: false, lookup: lookUp });

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
				// As in n8n: axios then wraps the body.
				maxContentLength: Infinity,
				proxy: false,
				validateStatus: () => true,
			}),
		);
		const stream = response.data;
		// The reader of the body reports a broken connection, but nobody may be reading it yet.
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
