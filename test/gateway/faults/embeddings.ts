import type { Exchange } from './actions';
import type { Body } from './bodies';

/** Turns the order of the embeddings about: only their `index` tells which text each belongs to. */
export function shuffle({ body }: Exchange): Body {
	const answer = JSON.parse(String(body)) as { data: unknown[] };
	return JSON.stringify({ ...answer, data: answer.data.reverse() });
}
