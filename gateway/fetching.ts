import { ServiceError } from './errors';

const fetchSeconds = 60;

/** Fetches a link of a request by plain GET, without a key or a cookie ("Resources", media item). */
export async function fetchFile(
	url: string,
	{ param, signal }: { param: string; signal: AbortSignal },
): Promise<Uint8Array> {
	try {
		const inTime = AbortSignal.any([signal, AbortSignal.timeout(fetchSeconds * 1000)]);
		const response = await fetch(url, { signal: inTime });
		if (!response.ok) throw new Error(`HTTP ${response.status}`);
		return new Uint8Array(await response.arrayBuffer());
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		const message = `${param} could not be fetched: ${reason}`;
		throw new ServiceError(400, 'invalid_parameter', message, { param });
	}
}
