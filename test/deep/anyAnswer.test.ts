import { endpoints } from '../../nodes/shared/service/protocol/endpoints';
import { readAnswer } from '../support/answers/readAnswer';
import {
	recordedAnswers,
	textOf,
	type Facts,
	type RecordedAnswer,
} from '../support/answers/recordedAnswers';
import { anyJson, anyText, jsonText, nearly } from '../support/data/anyJson';
import { fc, tries } from '../support/data/fuzz';
import { expectPlain } from '../support/data/plain';

const statuses = [
	200, 201, 204, 206, 301, 302, 304, 307, 400, 401, 403, 404, 408, 409, 418, 425, 429, 451, 500,
	502, 503, 504, 599,
];
const headers = fc.dictionary(
	fc.constantFrom('content-type', 'location', 'retry-after', 'x-request-id'),
	fc.constantFrom(
		'',
		' ',
		'NaN',
		'-1',
		'1',
		'1e9',
		'9'.repeat(400),
		'Wed, 99 Foo 2026',
		'{}',
		'text/html',
		'video/mp4',
		'application/json; charset=utf-16',
		'x'.repeat(5000),
		'/v1/models',
		'http://[',
		'//a.example/v',
		'javascript:alert(1)',
		'https://a.example/v.mp4',
	),
);

/** An answer of some service, nearly one, or anything, whole or cut off, under any status and headers. */
const like = (recorded: RecordedAnswer) => {
	const { body, events, status, asked } = recorded;
	const changed = events
		? nearly(events).map((all) =>
				[all]
					.flat()
					.map((event) => `data: ${jsonText(event)}\n\n`)
					.join(''),
			)
		: nearly({ body }).map((changed) => jsonText((changed as typeof recorded).body ?? null));
	const texts = fc.oneof(
		{ weight: 2, arbitrary: fc.constant(textOf(recorded)) },
		{ weight: 6, arbitrary: changed },
		{ weight: 2, arbitrary: anyJson.map(jsonText) },
		anyText,
	);
	const type = events ? 'text/event-stream' : 'application/json';
	return fc
		.record({
			text: texts,
			status: fc.oneof(fc.constant(status), fc.constantFrom(...statuses)),
			headers: fc.oneof(fc.constant({ 'content-type': type }), headers),
			end: fc.option(fc.nat({ max: 3_000 }), { freq: 4 }),
		})
		.map(({ text, end, ...head }): RecordedAnswer => {
			const cut = end === null ? { text } : { text: text.slice(0, end), breaksOff: 'ECONNRESET' };
			return { from: '', to: recorded.to, asked, facts: {}, ...head, ...cut };
		});
};

const isId = (id: string | null = 'none') => id !== null && id !== '' && id.trim() === id;
const isLink = (link: string) => /^(?:https?:\/\/|data:video\/)/i.test(link) && URL.canParse(link);
const isShort = (text: string | null | undefined, most: number) => (text ?? '').length <= most;

const promises: Record<string, (facts: Partial<Facts>, answer: RecordedAnswer) => boolean> = {
	'an ID is a text without spaces around it': ({ id }) => isId(id),
	'a link leads to somewhere': ({ link }) => link === undefined || link === null || isLink(link),
	'progress is a number': ({ progress }) => progress == null || Number.isFinite(progress),
	'each model has an ID': ({ models = [] }) => models.every(isId),
	'each text has a vector of numbers': ({ vectors }, { asked: { texts = 1 } = {} }) =>
		vectors === undefined ||
		(vectors.length === texts &&
			vectors.every((vector) => vector.length > 0 && vector.every(Number.isFinite))),
	'each image has a link or bytes': ({ files = [] }) =>
		files.every((file) => ('url' in file ? isLink(file.url) : file.base64 !== '')),
	'a text is a text': ({ text = '' }) => typeof text === 'string',
	// A message gives its content as it came.
	'a tool call of a chat has a name': ({ toolCalls = [] }, { to }) =>
		to === 'message' || toolCalls.every((call) => typeof call.name === 'string'),
	'what a person reads is short and has no half of a character': ({
		reason,
		code,
		type,
		param,
		isWellFormed,
	}) =>
		isShort(reason, 1_200) &&
		[code, type, param].every((text) => isShort(text, 101)) &&
		isWellFormed === true,
	'what arrived and cannot be used is not ordered again': ({ outcome, again }, { to }) =>
		outcome !== 'unusable' || endpoints[to].cost === 'read' || again !== true,
};

describe.each(Object.keys(endpoints))('any answer of %s', (to) => {
	const all = recordedAnswers().map(([, answer]) => answer);
	const recorded = all.filter((answer) => answer.to === to && (answer.body ?? answer.events));
	const usable = recorded.filter(({ status }) => status === 200);

	it('is read, or refused as what it is', async () => {
		const runs = tries(1_000);
		let used = 0;
		const answers = fc.oneof(fc.constantFrom(...recorded), fc.constantFrom(...usable)).chain(like);
		const property = fc.asyncProperty(answers, async (answer) => {
			const facts = await readAnswer(answer);
			expectPlain(facts);
			const broken = Object.keys(promises).filter((name) => !promises[name](facts, answer));
			expect(broken).toEqual([]);
			if (facts.outcome === 'used') used++;
		});
		await fc.assert(property, runs);
		// A reader that refuses everything would pass, too.
		expect(used).toBeGreaterThan(runs.numRuns / 25);
	});
});
