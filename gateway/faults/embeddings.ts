import type { Exchange } from './actions';
import type { Body } from './bodies';

/** Reverses the order of the embeddings, so that only their `index` shows which text each belongs to. */
export function shuffle({ body }: Exchange): Body {
	const response = JSON.parse(String(body)) as { data: unknown[] };
	return JSON.stringify({ ...response, data: response.data.reverse() });
}
