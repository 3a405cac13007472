import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { endpoints } from '../../../nodes/shared/service/protocol/endpoints';

/**
 * An answer in a form that some service, proxy or program gives, with the facts in it. One file has one answer. Its texts,
 * IDs and links are ours; a name in `from` says whose form it is, as far as it is documented or was reported.
 */
export interface RecordedAnswer {
	/** Whose form it is. */
	from: string;
	/** The endpoint that it answers. */
	to: keyof typeof endpoints;
	/** The part of the request that decides how the answer is read. */
	asked?: {
		/** The ID of the job. Default: the one that the answer names. */
		id?: string;
		stream?: true;
		/** Whether a chat was asked for images. */
		images?: true;
		/** How many texts were to be embedded. Default: 1. */
		texts?: number;
	};
	status: number;
	/** Default: those of JSON for a body, of an event stream for events, and none for a text. */
	headers?: Record<string, string>;
	/** The answer: as JSON, as the data of the events of a stream, as a text or its lines, or as the base64 of a file. */
	body?: unknown;
	events?: unknown[];
	text?: string | string[];
	file?: string;
	/** How the connection ends in the middle of the body. */
	breaksOff?: string;
	/** The error with which Node refuses to parse the answer. */
	parseError?: string;
	/** The facts that must be read from it. Null: there is none. */
	facts: Partial<Facts>;
	/** The names of the facts that are not read yet. */
	open?: Array<keyof Facts>;
}

/** The facts of an answer, in words that no reader of ours uses. */
export interface Facts {
	/**
	 * - `used`: it has what was ordered, or says how far it is
	 * - `refused`: the service made nothing
	 * - `proxied`: it is not of the service
	 * - `unusable`: something arrived, and nobody knows what was made
	 */
	outcome: 'used' | 'refused' | 'proxied' | 'unusable';
	/** Fields of a job that was created. */
	id: string | null;
	/** Fields of a job that was polled. */
	state: 'queued' | 'running' | 'succeeded' | 'failed' | 'unknown';
	progress: number | null;
	/** To the video. */
	link: string | null;
	/** Text of a chat or a message; of one that broke off, as much as arrived. */
	text: string;
	/** The words with which a model refuses. */
	refusal: string | null;
	/** Why each answer ended, in the service's words. */
	finish: Array<string | null>;
	/** Whether all answers ended by themselves. Otherwise a person is told. */
	isNatural: boolean;
	toolCalls: ToolCall[];
	/** Images: a link, or the bytes in base64. */
	files: Array<{ url: string } | { base64: string; type?: string }>;
	/** How many entries hold no image that can be read. */
	missing: number;
	vectors: number[][];
	models: string[];
	/** Why it was refused, or why the job failed: a part of what a person reads. */
	reason: string | null;
	/** The same, and nothing more than that. */
	wholeReason: string | null;
	code: string | null;
	type: string | null;
	param: string | null;
	/** The subject of the refusal. */
	cause: Cause;
	charged: 'no' | 'yes' | 'unknown';
	/** Whether the same request is sent again by itself. */
	again: boolean;
	retryAfterSeconds: number | null;
	requestId: string | null;
	/** Whether the record has the body of the refusal, or of the failed job, byte for byte. */
	keepsBody: boolean;
	/** Whether no message has half of a character. */
	isWellFormed: boolean;
}

/** @property unreadable the arguments of a call as they came, where they cannot be read; the model has to repair them */
export type ToolCall = { id?: string; name: string } & ({ input: object } | { unreadable: string });

export type Cause =
	| 'balance'
	| 'content'
	| 'image'
	| 'job'
	| 'key'
	| 'media'
	| 'model'
	| 'not delivered'
	| 'not finished'
	| 'permission'
	| 'proxy'
	| 'rate'
	| 'request'
	| 'server'
	| 'size'
	| 'time'
	| 'unclear';

const folder = path.join(__dirname, '../../fixtures/answers');

/** All of them, by the names of their files. */
export function recordedAnswers(): Array<[name: string, answer: RecordedAnswer]> {
	const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
	return files
		.filter((file) => file.endsWith('.json'))
		.sort()
		.map((file) => {
			const text = readFileSync(path.join(folder, file), 'utf8');
			return [file.replace(/\.json$/, ''), JSON.parse(text) as RecordedAnswer];
		});
}

/** The text of the answer as it arrives. */
export function textOf({ body, events, text }: RecordedAnswer): string {
	if (events) return events.map((event) => `data: ${jsonOf(event)}\n\n`).join('');
	if (text !== undefined) return [text].flat().join('\n');
	return body === undefined ? '' : JSON.stringify(body);
}

const jsonOf = (event: unknown) => (typeof event === 'string' ? event : JSON.stringify(event));
