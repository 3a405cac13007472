import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { toGenerateResult } from '../../nodes/LmChatModelGateway/generateResult';
import {
	anyCompletion,
	brokenAnswer,
	completion,
	textOf,
	type Completion,
} from '../../nodes/shared/gateway/chat/completion';
import { deliverAnswers } from '../../nodes/ModelGateway/resources/shared/answers';
import { unstreamed } from '../../nodes/shared/gateway/chat/answerStream';
import { Redaction } from '../../nodes/shared/gateway/client/redaction';
import {
	bodyFields,
	describeBody,
	UnusableResponse,
	type ServiceResponse,
} from '../../nodes/shared/gateway/client/response';
import { embeddingList } from '../../nodes/shared/gateway/embeddings/responses';
import type { Image } from '../../nodes/shared/gateway/images/entries';
import { readChatImages, readImages } from '../../nodes/shared/gateway/images/responses';
import {
	createdTask,
	createdVideo,
	jobStatus,
	videoContent,
} from '../../nodes/shared/gateway/jobs/responses';
import { excerpt, isObject, textAt } from '../../nodes/shared/gateway/json';
import { modelList } from '../../nodes/shared/gateway/models/list';
import { clock } from '../../nodes/shared/n8n/client/httpClient';
import { answerOf } from '../support/data/answers';
import { anyJson, anyText, jsonText, nearly } from '../support/data/anyJson';
import { unlessEndless } from '../support/data/endless';
import { fc, tries } from '../support/data/fuzz';
import { expectPlain } from '../support/data/plain';
import { trueAnswers } from '../support/data/trueAnswers';

const isId = (id: unknown) => typeof id === 'string' && id !== '' && id.trim() === id;
const isLink = (url: string | undefined) =>
	url !== undefined && /^(?:https?:\/\/|data:video\/)/i.test(url) && URL.canParse(url);
const isPicture = ({ url, bytes }: Image) => (bytes ? bytes.length > 0 : isLink(url));
const isNumber = (value: unknown) => value === undefined || Number.isFinite(value);

interface Reader<T> {
	like: object[];
	read: (response: ServiceResponse) => T;
	/** What callers rely on, besides the value being plain. */
	isGood: (value: T) => boolean;
}
const reader = <T>(
	like: object | object[],
	read: (response: ServiceResponse) => T | Promise<T>,
	isGood: (value: T) => boolean,
): Reader<unknown> => ({ like: [like].flat(), read, isGood }) as Reader<unknown>;

const isCompletion = ({ choices }: Completion) =>
	choices.length > 0 &&
	choices.every(({ message, index }) => typeof textOf(message) === 'string' && isNumber(index));

const nativeEvents = [
	{ type: 'message_start', message: { id: 'm1', content: [], stop_reason: 'end_turn' } },
	{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
];

const readers: Record<string, Reader<unknown>> = {
	describeBody: reader(
		trueAnswers.models,
		describeBody,
		(text) => text !== '' && text.length < 200,
	),
	createdTask: reader(
		trueAnswers.referenceVideoCreate,
		createdTask,
		({ id, fields }) => isId(id) && textAt(fields, 'output.task_id', 'task_id') !== undefined,
	),
	createdVideo: reader(
		trueAnswers.videoCreate,
		createdVideo,
		({ id, fields }) => isId(id) && fields.id === id,
	),
	jobStatus: reader(
		[...trueAnswers.task, ...trueAnswers.video],
		jobStatus,
		({ status, progress, link, failure = {} }) =>
			isId(status) &&
			status.length <= 101 &&
			isNumber(progress) &&
			(link === undefined || isLink(link)) &&
			Object.values(failure).every((text) => text === undefined || typeof text === 'string'),
	),
	videoContent: reader(trueAnswers.videoContent, videoContent, ({ source }) => isLink(source.url)),
	modelList: reader(trueAnswers.models, modelList, ({ models }) =>
		models.every(({ id }) => isId(id)),
	),
	completion: reader([...trueAnswers.chat, ...trueAnswers.message], completion, isCompletion),
	anyCompletion: reader(trueAnswers.chat, anyCompletion, isCompletion),
	brokenAnswer: reader(
		trueAnswers.chat,
		(response) => brokenAnswer(anyCompletion(response))?.message ?? '',
		(text) => typeof text === 'string',
	),
	deliverAnswers: reader(
		[...trueAnswers.chat, ...trueAnswers.message],
		(response) => deliverAnswers(completion(response), { hint: () => undefined }),
		(items) => items.length > 0 && items.every(({ json }) => typeof json.text === 'string'),
	),
	bodyFields: reader(trueAnswers.models, bodyFields, (fields) => typeof fields === 'object'),
	toGenerateResult: reader(
		trueAnswers.chat,
		(response) => toGenerateResult(completion(response), () => true),
		({ message, usage = {} }) =>
			Object.values(usage).every(isNumber) &&
			message.content.every((part) =>
				part.type === 'text'
					? part.text !== ''
					: isId(part.toolCallId) && isId(part.toolName) && part.input.startsWith('{'),
			),
	),
	readImages: reader(trueAnswers.imageGenerate, readImages, ({ images: list }) =>
		list.every(isPicture),
	),
	readChatImages: reader(trueAnswers.chat, readChatImages, ({ images: list }) =>
		list.every((image) => typeof image.fields.text === 'string' && isPicture(image)),
	),
	embeddingList: reader(
		trueAnswers.embedding,
		(response) => embeddingList(response, 2),
		({ vectors }) =>
			vectors.length === 2 &&
			vectors.every((vector) => vector.length > 0 && vector.every(Number.isFinite)),
	),
};

const gateway = { redaction: new Redaction('sk-0123456789abcdef'), runtime: { clock } };
/** As text, a completion is read like the events of a stream. */
const readersOfStreams: Record<string, Reader<unknown>> = {
	unstreamed: reader(
		[...trueAnswers.chat, ...nativeEvents],
		async (response) => (await unstreamed({ ...response, json: undefined }, gateway)).json,
		(json) => isObject(json),
	),
};

const heads = fc.constantFrom<Partial<ServiceResponse>>(
	...[{}, { requestId: 'req_1' }, { headers: { 'content-type': 'text/html' } }, { isFile: true }],
	...[{ location: 'https://a.example/v.mp4' }, { location: 'ftp://a.example/v.mp4' }],
);
/** The text, cut off anywhere, as when a connection breaks. */
const broken = (text: string) =>
	fc.nat({ max: text.length }).map((end) => ({
		text: text.slice(0, end),
		json: undefined,
		broken: 'aborted',
	}));

function responsesLike(like: object[]): fc.Arbitrary<ServiceResponse> {
	const bodies = fc.oneof(
		...like.map((response) => fc.oneof(nearly(response), fc.constant(response))),
	);
	const texts = fc.oneof(
		{ weight: 6, arbitrary: bodies.map(jsonText) },
		{ weight: 3, arbitrary: anyJson.map(jsonText) },
		{ weight: 1, arbitrary: anyText },
	);
	return fc.tuple(texts, heads, fc.boolean()).chain(([text, head, isBroken]) => {
		const response = answerOf(text, head);
		const cut = isBroken ? broken(text) : fc.constant({});
		return cut.map((parts) => ({ ...response, ...parts }));
	});
}

describe('arbitrary responses', () => {
	it('tests every function that reads a response', () => {
		const root = path.join(__dirname, '../../nodes');
		const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
		const sources = files.filter((file) => file.endsWith('.ts'));
		const found = sources.flatMap((file) => {
			const source = readFileSync(path.join(root, file), 'utf8');
			const taking = /^export (?:async )?function (\w+)\([^)]*: (?:ServiceResponse|Completion)\b/gm;
			return [...source.matchAll(taking)].map(([, name]) => name);
		});
		const tested = Object.keys({ ...readers, ...readersOfStreams });
		expect(found.sort()).toEqual(tested.sort());
	});

	const runs = tries(500);
	// A function that refuses everything would pass, too.
	const expectMany = (good: number) => expect(good).toBeGreaterThan(runs.numRuns / 25);
	const expectGood = (value: unknown, { isGood }: Reader<unknown>) => {
		expectPlain(value);
		if (!isGood(value)) throw new Error(`not good: ${excerpt(JSON.stringify(value), 500)}`);
		return 1;
	};
	const expectUnusable = (error: unknown) => {
		if (!(error instanceof UnusableResponse)) throw error;
		expect(error.message.length).toBeLessThan(1000);
	};

	it.each(Object.entries(readers))(
		'%s reads any response, or names what is wrong with it',
		(_, reader) => {
			let good = 0;
			const property = fc.property(responsesLike(reader.like), (response) => {
				try {
					good += expectGood(reader.read(response), reader);
				} catch (error) {
					expectUnusable(error);
				}
			});
			unlessEndless(() => fc.assert(property, runs));
			expectMany(good);
		},
	);

	it.each(Object.entries(readersOfStreams))(
		'%s reads any stream, or names what is wrong with it',
		async (_, reader) => {
			let good = 0;
			const property = fc.asyncProperty(responsesLike(reader.like), async (response) => {
				try {
					good += expectGood(await reader.read(response), reader);
				} catch (error) {
					expectUnusable(error);
				}
			});
			await fc.assert(property, runs);
			expectMany(good);
		},
	);
});
