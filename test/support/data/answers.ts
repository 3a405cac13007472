import type { ServiceResponse } from '../../../nodes/shared/service/client/response';
import { parseJson } from '../../../nodes/shared/service/json';

/** A response as the transport hands it to a parser. @param body a text is used as it is, anything else as JSON */
export function answerOf(body: unknown, parts: Partial<ServiceResponse> = {}): ServiceResponse {
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	return {
		status: 200,
		headers: {},
		text,
		url: 'https://gateway.example/v1/videos/video_1/content',
		json: parseJson(text),
		...parts,
	};
}
