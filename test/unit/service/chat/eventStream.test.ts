import {
	chunksIn,
	EventParser,
	type StreamEvent,
} from '../../../../nodes/shared/service/chat/eventStream';
import { responseMemory } from '../../../../nodes/shared/service/client/responseMemory';
import { exchange } from '../../../../nodes/shared/service/client/exchange';
import { endpoints } from '../../../../nodes/shared/service/protocol/endpoints';
import { unlessEndless } from '../../../support/data/endless';
import { fc } from '../../../support/data/fuzz';
import { gatewayTo } from '../../../support/workflows/gatewayWorld';

const dataOf = ({ data }: StreamEvent) => data;

function eventsIn(chunks: string[]): string[] {
	const parser = new EventParser();
	return [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()].map(dataOf);
}

function cutAt<T extends { length: number; slice(start: number, end?: number): T }>(
	whole: T,
	places: number[],
): T[] {
	const cuts = [...new Set(places.map((place) => place % (whole.length + 1)))];
	const ends = [...cuts.sort((a, b) => a - b), whole.length];
	return ends.map((end, index) => whole.slice(index === 0 ? 0 : ends[index - 1], end));
}

describe('the event parser', () => {
	it('gives each event its own name, which is empty when it has none', () => {
		const parser = new EventParser();
		expect(parser.push('data: a\n\nevent: ping\ndata: b\n\ndata: c\n\n')).toEqual([
			{ name: '', data: 'a' },
			{ name: 'ping', data: 'b' },
			{ name: '', data: 'c' },
		]);
	});

	it.each<[string, string, string[]]>([
		['with an event of several lines', 'data: a\ndata: b\ndata:\ndata\n\n', ['a\nb\n\n']],
		['with CR line endings', 'data: a\rdata: b\r\rdata: c\r\r', ['a\nb', 'c']],
		['with comments', ': hello\n\ndata: a\n:\n\n: keep-alive\n\n', ['a']],
		['with other fields', 'event: x\nid: 1\nretry: 5\ndata: a\nother\n\n', ['a']],
		['with fields of similar names only', 'database: 1\ndata-x: 2\n data: 3\nDATA: 4\n\n', []],
		['that ends without an empty line', 'data: a\n\ndata: b', ['a', 'b']],
	])('reads the events of a stream %s', (_, text, expected) => {
		expect(eventsIn([text])).toEqual(expected);
		expect(eventsIn([...text])).toEqual(expected);
	});

	it('reads a long line in linear time, however small its chunks', () => {
		const chunk = 'x'.repeat(64);
		const chunks = 2 ** 18;
		const parser = new EventParser();
		parser.push('data: ');
		unlessEndless(() => {
			for (let count = 0; count < chunks; count++) parser.push(chunk);
		});
		expect(parser.push('\n\n')[0].data).toHaveLength(chunks * chunk.length);
	});
});

it('reads an event of 90,000 lines that are no JSON within a second or two', () => {
	const start = performance.now();
	expect(chunksIn({ name: '', data: 'x\n'.repeat(90_000) })).toMatchObject({ chunks: [] });
	expect(performance.now() - start).toBeLessThan(1_500);
});

describe('random event streams', () => {
	const line = fc
		.string({ unit: 'grapheme', maxLength: 12 })
		.map((text) => text.replace(/[\r\n]/g, ''));
	const noise = fc.oneof(
		line.map((text) => `:${text}`),
		fc.constantFrom('event: message', 'id', 'retry: 10', 'dat: a', 'unknown:x'),
	);
	const event = fc.record({
		data: fc.array(line, { minLength: 1, maxLength: 3 }),
		noise: fc.array(noise, { maxLength: 2 }),
		spaced: fc.boolean(),
	});
	const endings = fc.constantFrom(['\n', '\r\n'], ['\r\n'], ['\n']);
	const stream = fc
		.tuple(fc.array(event, { maxLength: 5 }), endings, fc.infiniteStream(fc.nat()), fc.boolean())
		.map(([events, kinds, choices, isOpen]) => {
			const ending = () => kinds[(choices.next().value as number) % kinds.length];
			const lines = events.flatMap(({ data, noise: others, spaced }) => [
				...others,
				...data.map((text) => `data:${spaced || text.startsWith(' ') ? ' ' : ''}${text}`),
				'',
			]);
			if (isOpen) lines.pop();
			return {
				text: lines.map((text) => `${text}${ending()}`).join(''),
				expected: events.map(({ data }) => data.join('\n')),
			};
		});
	const places = fc.array(fc.nat(), { maxLength: 12 });

	it('reads the same events wherever any text is cut', () => {
		const parts = fc.constantFrom('\r', '\n', 'data', 'data:', ':', ' ', 'a', '\u2028', '🎬');
		const texts = fc.array(parts, { maxLength: 30 }).map((chunks) => chunks.join(''));
		fc.assert(
			fc.property(texts, places, (text, cuts) => {
				expect(eventsIn(cutAt(text, cuts))).toEqual(eventsIn([text]));
			}),
			{ numRuns: 500 },
		);
	});

	it('reads the same events wherever the bytes of a stream are cut, even within a character', async () => {
		const gateway = gatewayTo('https://gateway.example');
		await fc.assert(
			fc.asyncProperty(stream, places, async ({ text, expected }, cuts) => {
				const parser = new EventParser();
				const events: string[] = [];
				const body = (async function* () {
					yield* cutAt<Uint8Array>(Buffer.from(`\ufeff${text}`), cuts);
				})();
				const http = async () => ({ status: 200, headers: {}, body, close: () => undefined });
				const received = await exchange(
					{ method: 'GET', url: 'https://gateway.example/', headers: {} },
					gateway.with({ http }),
					{
						call: {
							endpoint: endpoints.chat,
							onText: (chunk) => events.push(...parser.push(chunk).map(dataOf)) < 0,
						},
						requestInfo: { purpose: 'ask', cost: 'generation' },
						timeout: 1000,
						held: responseMemory.share(),
						slot: {},
					},
				);
				expect(received).toMatchObject({ text });
				expect([...events, ...parser.end().map(dataOf)]).toEqual(expected);
			}),
			{ numRuns: 200 },
		);
	});

	it('keeps no more than 100,000 lines of one event', () => {
		const parser = new EventParser();
		parser.push('data: a\n'.repeat(200_000));
		expect(parser.push('\n').map(({ data }) => data.length)).toEqual([199_999]);
		expect(parser.push('data: b\n\n')).toEqual([{ name: '', data: 'b' }]);
	});
});
