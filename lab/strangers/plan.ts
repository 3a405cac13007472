import { randomFrom } from '../../gateway/random';
import { answerKinds, requests, type AnswerKind } from '../answerKinds';

const compressions = ['identity', 'identity', 'gzip', 'br', 'deflate'] as const;
const speeds = ['full', 'full', 'full', 'drips', 'stalls'] as const;
const ends = ['whole', 'whole', 'cut', 'never'] as const;
const statuses = [200, 200, 200, 200, 400, 429, 500] as const;

/** The request to one stranger, and how it answers. */
export interface Plan {
	/** A name of {@link requests}, or `file` for a file host. */
	request: string;
	kind: AnswerKind;
	/** In characters, before the compression. */
	length: number;
	status: number;
	compression: (typeof compressions)[number];
	speed: (typeof speeds)[number];
	/** Whether the answer comes to its end, breaks off there, or repeats itself for ever. */
	end: (typeof ends)[number];
}

/** Most answers are small, and some have this many characters. */
const [minLength, maxLength] = [1_000, 30_000_000];

/** The same for the same seed, here and in the process of the server. */
export function planOf(seed: string): Plan {
	const random = randomFrom(seed);
	const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)];
	const kind = oneOf(answerKinds);
	const isOwn = random() < 0.5;
	const own = Object.keys(requests).find((name) => requests[name] === kind.request) ?? 'chat';
	return {
		kind,
		request: isOwn ? own : oneOf([...Object.keys(requests), 'file']),
		length: Math.round(minLength * (maxLength / minLength) ** random()),
		status: isOwn ? (kind.status ?? 200) : oneOf(statuses),
		compression: oneOf(compressions),
		speed: oneOf(speeds),
		end: oneOf(ends),
	};
}
