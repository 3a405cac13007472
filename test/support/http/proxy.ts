import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { answer, reset, type ReceivedRequest, type Reply } from './scriptedServer';

/**
 * A proxy's treatment of a request: it forwards the request to the server behind it, and reads the complete response.
 * @param target the origin of that server
 * @param instead gives what the proxy does by itself after that; undefined passes the response on
 */
export const forward =
	(target: string, instead: (headers: IncomingHttpHeaders) => Reply | undefined): Reply =>
	async (response, received) => {
		try {
			const { status, headers, body } = await exchange(target, received);
			const reply = instead(headers) ?? answer(status, body, headers as Record<string, string>);
			reply(response, received);
		} catch {
			reset(response, received);
		}
	};

async function exchange(target: string, { method, path, headers, bytes }: ReceivedRequest) {
	// Without an agent, the connection ends with the response.
	const forwarded = request(new URL(path, target), { method, headers, agent: false }).end(bytes);
	const [upstream] = (await once(forwarded, 'response')) as [IncomingMessage];
	return {
		status: upstream.statusCode ?? 0,
		headers: upstream.headers,
		body: await buffer(upstream),
	};
}
