import type { ContentOf } from '../../../nodes/LmChatModelGateway/aiNodeSdk';
import { toGenerateResult } from '../../../nodes/LmChatModelGateway/generateResult';
import { unreadableArguments } from '../../../nodes/shared/n8n/agent/tool';
import { hintAtIncompleteAnswers } from '../../../nodes/ModelGateway/resources/shared/answers';
import { completion, type Completion } from '../../../nodes/shared/service/chat/completion';
import { refusalTextOf, textOf as messageText } from '../../../nodes/shared/service/chat/message';
import { completeChat } from '../../../nodes/shared/service/chat/complete';
import { unstreamed } from '../../../nodes/shared/service/chat/answerStream';
import { Gateway } from '../../../nodes/shared/service/client/gateway';
import type { HttpResponse } from '../../../nodes/shared/service/client/http';
import {
	UnusableResponse,
	type ServiceResponse,
} from '../../../nodes/shared/service/client/response';
import { embed, vectorsOf } from '../../../nodes/shared/service/embeddings/embed';
import { GatewayError, type Failure } from '../../../nodes/shared/service/errors/gatewayError';
import { jobFailed } from '../../../nodes/shared/service/errors/jobErrors';
import {
	readImages,
	receivedChatImages,
	type ImageResult,
} from '../../../nodes/shared/service/images/responses';
import { getJobStatus, getVideoContent } from '../../../nodes/shared/service/jobs/requests';
import {
	createdTask,
	createdVideo,
	type JobStatus,
} from '../../../nodes/shared/service/jobs/responses';
import { asText, valueAt, type JsonObject } from '../../../nodes/shared/service/json';
import { listModels } from '../../../nodes/shared/service/models/list';
import { endpoints } from '../../../nodes/shared/service/protocol/endpoints';
import type { RefusalKind } from '../../../nodes/shared/service/protocol/errorCodes';
import { SimulatedClock } from '../time/simulatedClock';
import {
	textOf,
	type Cause,
	type Facts,
	type RecordedAnswer,
	type ToolCall,
} from './recordedAnswers';

/**
 * The facts that the package reads from an answer: it comes by HTTP, and goes through the client and the readers. This
 * file alone knows how they are called.
 */
export async function readAnswer(answer: RecordedAnswer): Promise<Partial<Facts>> {
	const sent = { count: 0 };
	const gateway = gatewayWith(answer, sent);
	const facts: Partial<Facts> = await readers[answer.to](gateway, answer).then(
		(found) => ({ outcome: 'used' as const, ...found }),
		(error: unknown) => {
			if (!(error instanceof GatewayError)) throw error;
			return factsOfFailure(error.failure, answer);
		},
	);
	return { isWellFormed: true, ...facts, wholeReason: facts.reason, again: sent.count > 1 };
}

/** A gateway that gives this answer to each request. */
function gatewayWith(answer: RecordedAnswer, sent: { count: number }): Gateway {
	const { status, file, breaksOff, parseError } = answer;
	const bytes = file === undefined ? Buffer.from(textOf(answer)) : Buffer.from(file, 'base64');
	const type = answer.events ? 'text/event-stream' : 'application/json';
	const isTyped = answer.events !== undefined || answer.body !== undefined;
	const headers = answer.headers ?? (isTyped ? { 'content-type': type } : undefined) ?? {};
	const broken = (code: string) => Object.assign(new Error(code), { code });
	const http = async (): Promise<HttpResponse> => {
		sent.count++;
		if (parseError !== undefined) throw broken(parseError);
		return await Promise.resolve({
			status,
			headers,
			close: () => undefined,
			body: (async function* () {
				yield await Promise.resolve(bytes);
				if (breaksOff !== undefined) throw broken(breaksOff);
			})(),
		});
	};
	return new Gateway(
		{
			key: 'key-of-recorded-answers',
			baseUrl: 'https://gateway.example',
			asyncHeaderName: 'X-Gateway-Async',
		},
		{ http, clock: new SimulatedClock(), random: () => 0.5 },
	);
}

type Reader = (gateway: Gateway, answer: RecordedAnswer) => Promise<Partial<Facts>>;

const created =
	(
		endpoint: 'referenceVideoCreate' | 'videoCreate',
		parse: typeof createdTask,
		body: object,
	): Reader =>
	async (gateway) => {
		const call = { endpoint: endpoints[endpoint], purpose: 'create the video', body, parse };
		const { fields } = await gateway.call(call);
		// As Wait for Video finds it behind the node that created the job.
		const id = valueAt(fields, 'output.task_id') ?? fields.task_id ?? fields.id;
		return { id: asText(id), requestId: fields.request_id };
	};

const polled =
	(kind: 'task' | 'video'): Reader =>
	async (gateway, { asked: { id = `${kind}_1` } = {}, ...answer }) => {
		const status = await getJobStatus(gateway, { kind, id });
		const { phase: state = 'unknown', progress, link, failure, fields } = status;
		return {
			state,
			progress,
			link,
			requestId: fields.request_id,
			...(failure && { reason: failure.message, code: failure.code, type: failure.type }),
			...(state === 'failed' && factsOfFailedJob(id, status, answer)),
		};
	};

function factsOfFailedJob(id: string, status: JobStatus, answer: RecordedAnswer): Partial<Facts> {
	const { failure } = jobFailed({ id }, status);
	const [, said] = / failed: (.*)$/s.exec(failure.message) ?? [];
	const reason = said === 'the service gave no reason' ? undefined : said;
	return {
		reason,
		keepsBody: failure.raw_body === textOf(answer),
		isWellFormed: isWhole(failure.message),
	};
}

const images =
	(endpoint: 'imageGenerate' | 'imageEdit'): Reader =>
	async (gateway) =>
		factsOfImages(
			await gateway.call({ endpoint: endpoints[endpoint], purpose: 'make', parse: readImages }),
		);

/** How the operations and the nodes request and read each endpoint. */
const readers: Record<keyof typeof endpoints, Reader> = {
	referenceVideoCreate: created('referenceVideoCreate', createdTask, {
		model: 'alpha-1.1-r2v',
		input: { prompt: 'A boat', media: [{ type: 'reference_image', url: 'https://a.example/b' }] },
	}),
	videoCreate: created('videoCreate', createdVideo, { model: 'vid-3.1', prompt: 'A boat' }),
	task: polled('task'),
	video: polled('video'),
	videoContent: async (gateway, { asked: { id = 'video_1' } = {} }) => {
		const { source, fields } = await getVideoContent(gateway, { id });
		return { link: source.url, requestId: fields.request_id };
	},
	models: async (gateway) => {
		const { models, fields } = await listModels(gateway);
		return { models: models.map(({ id }) => id), requestId: fields.request_id };
	},
	embedding: async (gateway, { asked: { texts = 1 } = {} }) => {
		const input = Array.from({ length: texts }, (_, index) => `text ${index}`);
		const fields = { model: 'embed-1' };
		const batches = await embed(gateway, input, { fields, batchSize: texts });
		return { vectors: vectorsOf(batches), requestId: batches[0].fields.request_id };
	},
	imageGenerate: images('imageGenerate'),
	imageEdit: images('imageEdit'),
	message: async (gateway) => {
		const parse = async (response: ServiceResponse) =>
			completion(await unstreamed(response, gateway));
		const call = { endpoint: endpoints.message, purpose: 'create the message', body: {}, parse };
		return factsOfCompletion(await gateway.call(call));
	},
	chat: async (gateway, { asked: { stream, images: areImages } = {} }) => {
		if (areImages) {
			const parse = async (response: ServiceResponse) =>
				await receivedChatImages(response, gateway);
			const call = { endpoint: endpoints.chat, purpose: 'make', response: 'files' } as const;
			return factsOfImages(await gateway.call({ ...call, body: {}, parse }));
		}
		const body = { model: 'chat-1', ...(stream && { stream }) };
		return factsOfCompletion(await completeChat(gateway, { body, parse: (whole) => whole }));
	},
};

function factsOfCompletion(whole: Completion): Partial<Facts> {
	const { choices, request_id } = whole;
	const reasons = choices.map(({ finish_reason }) => finish_reason);
	return {
		text: choices.map(({ message }) => messageText(message)).join('\n\n'),
		refusal: refusalTextOf(choices[0].message) || undefined,
		finish: reasons.map((reason) => reason ?? null),
		isNatural: isNatural(reasons),
		toolCalls: toolCallsOf(choices[0].message),
		requestId: asText(request_id),
	};
}

/** The calls as an AI agent gets them; undefined where it gets an error instead. */
function toolCallsOf(message: JsonObject): ToolCall[] | undefined {
	try {
		const { message: given } = toGenerateResult({ choices: [{ index: 0, message }] }, () => true);
		return given.content.flatMap((part) => (part.type === 'tool-call' ? [callOf(part)] : []));
	} catch (error) {
		if (error instanceof UnusableResponse) return undefined;
		throw error;
	}
}

function callOf({ toolCallId: id, toolName: name, input: json }: ContentOf<'tool-call'>): ToolCall {
	const input = JSON.parse(json) as JsonObject;
	const text = asText(input[unreadableArguments]);
	return { id, name, ...(text === undefined ? { input } : { unreadable: text }) };
}

function isNatural(reasons: unknown[]): boolean {
	const hints: string[] = [];
	hintAtIncompleteAnswers({ hint: (hint) => void hints.push(hint) }, reasons);
	return hints.length === 0;
}

function factsOfImages({ images: found, missing, fields, finishReasons }: ImageResult) {
	return {
		files: found.map(({ url, bytes, mimeType: type }) =>
			bytes ? { base64: bytes.toString('base64'), type } : { url: String(url) },
		),
		missing: missing.length,
		text: asText(found[0].fields.text),
		finish: finishReasons?.map((reason) => asText(reason) ?? null),
		isNatural: isNatural((finishReasons ?? []).map((reason) => reason ?? undefined)),
		requestId: asText(fields.request_id),
	};
}

const causes: Record<RefusalKind, Cause> = {
	invalidKey: 'key',
	notPermitted: 'permission',
	quotaExceeded: 'balance',
	unknownModel: 'model',
	refusedContent: 'content',
	notFound: 'job',
	gone: 'job',
	jobNotFinished: 'not finished',
	badRequest: 'request',
	tooLarge: 'size',
	invalidImage: 'image',
	missingMedia: 'media',
	providerError: 'server',
	serverError: 'server',
	timedOut: 'server',
	tooManyRequests: 'rate',
	responseNotDelivered: 'not delivered',
	forbidden: 'unclear',
	missingMediaOrServerError: 'unclear',
	knownOrder: 'unclear',
	proxy: 'proxy',
};

function factsOfFailure(failure: Failure, answer: RecordedAnswer): Partial<Facts> {
	const { message, reach, kind = '', billed, retryAfter, request_id, partial_text } = failure;
	const isOfProxy = reach === 'proxied' || kind === 'proxy';
	const [, said = message] = /^Could not .+?: (.*) \(HTTP \d+.*\)$/s.exec(message) ?? [];
	return {
		outcome: isOfProxy ? 'proxied' : reach === 'answered' ? 'refused' : 'unusable',
		id: undefined,
		reason: said.endsWith('the response gives no reason') ? undefined : said,
		code: failure.code,
		type: failure.type,
		param: failure.param,
		charged: billed,
		requestId: request_id,
		text: partial_text,
		cause: Object.hasOwn(causes, kind) ? causes[kind as RefusalKind] : undefined,
		retryAfterSeconds: retryAfter === undefined ? undefined : retryAfter / 1000,
		keepsBody: failure.raw_body === textOf(answer),
		isWellFormed: isWhole(message),
	};
}

/** Whether a text has no half of a character. */
const isWhole = (text: string) => !/\p{Surrogate}/u.test(text);
