import {
	aspectMarkers,
	asyncHeader,
	endpoints,
	type Cost,
	type Endpoint,
} from '../../nodes/shared/gateway/protocol/endpoints';
import { errorCodes, statusMeanings } from '../../nodes/shared/gateway/protocol/errorCodes';
import { jobKinds, phaseOf } from '../../nodes/shared/gateway/protocol/jobs';
import { limits } from '../../nodes/shared/gateway/protocol/limits';
import {
	mediaTypes,
	referenceVideoModels,
	referenceVoice,
	videoModels,
	frameToVideoSuffix,
} from '../../nodes/shared/gateway/protocol/models';
import { finishReasons, messageRoles } from '../../nodes/shared/gateway/protocol/chat';
import { streamEnd } from '../../nodes/shared/gateway/protocol/chat';
import { requestIdHeader } from '../../nodes/shared/gateway/protocol/endpoints';
import { adviceOf } from '../../nodes/shared/n8n/errors/advice';

// What is expected here is written down from the service's specification, not from the code.

describe('the phase of a state', () => {
	it.each([
		['PENDING', 'queued'],
		['RUNNING', 'running'],
		['SUCCEEDED', 'succeeded'],
		['FAILED', 'failed'],
		['submitted', 'queued'],
		['in_progress', 'running'],
		['completed', 'succeeded'],
		['failed', 'failed'],
		['queued', 'queued'],
		['processing', 'running'],
	])('%s', (state, phase) => {
		expect(phaseOf(state)).toBe(phase);
	});

	it.each(['COMPLETED', 'In_Progress', 'pending', 'succeeded', 'Running'])(
		'does not depend on its case: %s',
		(state) => {
			expect(phaseOf(state)).toBeDefined();
		},
	);

	it.each(['', 'canceled', 'UNKNOWN', 'constructor', '__proto__'])(
		'is not known: "%s"',
		(state) => {
			expect(phaseOf(state)).toBeUndefined();
		},
	);
});

describe('endpoints', () => {
	it.each<[keyof typeof endpoints, string]>([
		['referenceVideoCreate', 'POST /wan/api/v1/services/aigc/video-generation/video-synthesis'],
		['task', 'GET /v1/tasks/{id}'],
		['chat', 'POST /v1/chat/completions'],
		['message', 'POST /v1/messages'],
		['embedding', 'POST /v1/embeddings'],
		['models', 'GET /v1/models'],
		['imageGenerate', 'POST /v1/images/generations'],
		['imageEdit', 'POST /v1/images/edits'],
		['videoCreate', 'POST /v1/videos'],
		['video', 'GET /v1/videos/{id}'],
		['videoContent', 'GET /v1/videos/{id}/content'],
	])('%s: %s', (name, expected) => {
		const { method, path } = endpoints[name];
		expect(`${method} ${path}`).toBe(expected);
	});

	it('are all there', () => {
		expect(Object.keys(endpoints)).toHaveLength(11);
	});

	it('cost what they cost', () => {
		const byCost = (cost: Cost) =>
			Object.entries<Endpoint>(endpoints)
				.filter(([, endpoint]) => endpoint.cost === cost)
				.map(([name]) => name);
		expect(byCost('read')).toEqual(['task', 'models', 'video', 'videoContent']);
		expect(byCost('job')).toEqual(['referenceVideoCreate', 'videoCreate']);
		expect(byCost('generation')).toHaveLength(5);
	});

	it('have the fields of a chat', () => {
		expect(endpoints.chat.fields).toMatchObject({
			model: { required: true },
			messages: { required: true },
			temperature: { default: 1, min: 0, max: 2 },
			top_p: { default: 1, min: 0, max: 1 },
			frequency_penalty: { default: 0, min: -2, max: 2 },
			presence_penalty: { default: 0, min: -2, max: 2 },
			stream: { default: false },
			n: { default: 1 },
		});
		expect(Object.keys(endpoints.chat.fields)).toHaveLength(11);
	});

	it('have the fields of an image', () => {
		expect(Object.keys(endpoints.imageGenerate.fields)).toEqual([
			...['model', 'prompt', 'n', 'size', 'quality', 'style', 'aspect_ratio', 'seed'],
			...['prompt_upsampling', 'safety_tolerance'],
		]);
		expect(Object.keys(endpoints.imageEdit.fields)).toEqual([
			...['model', 'image', 'prompt', 'mask', 'n', 'size', 'aspect_ratio'],
		]);
	});
});

describe('names and values', () => {
	it('are those of the service', () => {
		expect(asyncHeader).toEqual({ name: 'X-Gateway-Async', value: 'enable' });
		expect(requestIdHeader).toBe('x-request-id');
		expect(streamEnd).toBe('[DONE]');
		expect(aspectMarkers).toEqual(['【2:3】', '【3:2】', '【1:1】']);
		expect(mediaTypes).toEqual(['reference_image', 'reference_video', 'first_frame']);
		expect(messageRoles).toEqual(['system', 'user', 'assistant', 'function', 'tool']);
		expect(Object.keys(finishReasons)).toEqual([
			...['stop', 'length', 'content_filter', 'function_call', 'tool_calls'],
		]);
	});

	it('of the video models are complete', () => {
		expect(Object.entries(videoModels).map(([id, { meaning }]) => `${id}: ${meaning}`)).toEqual([
			'vid-3.1: Portrait, standard',
			'vid-3.1-fl: Portrait, frame-to-video',
			'vid-3.1-fast: Portrait, fast',
			'vid-3.1-fast-fl: Portrait, fast, frame-to-video',
			'vid-3.1-landscape: Landscape, standard',
			'vid-3.1-landscape-fl: Landscape, frame-to-video',
			'vid-3.1-landscape-fast: Landscape, fast',
			'vid-3.1-landscape-fast-fl: Landscape, fast, frame-to-video',
		]);
	});

	it.each(Object.entries(videoModels))(
		'tells by its end whether %s makes frames a video',
		(id, model) => {
			expect(id.endsWith(frameToVideoSuffix)).toBe(model.meaning.includes('frame-to-video'));
		},
	);
});

describe('limits', () => {
	it('of alpha-1.1-r2v', () => {
		expect(referenceVideoModels['alpha-1.1-r2v']).toEqual({
			mediaTypes: ['reference_image'],
			references: { min: 1, max: 9 },
			firstFrames: { max: 0 },
			voice: false,
			numberedMedia: false,
			parameters: {
				resolution: { type: 'string', default: '720P', values: ['720P', '1080P'] },
				duration: { type: 'integer', default: 5, min: 2, max: 15 },
				prompt_extend: { type: 'boolean', default: true },
				watermark: { type: 'boolean', default: false },
				seed: { type: 'integer', min: 0, max: 2_147_483_647 },
			},
		});
	});

	it('of beta-2.7-r2v', () => {
		expect(referenceVideoModels['beta-2.7-r2v']).toEqual({
			mediaTypes: ['reference_image', 'reference_video', 'first_frame'],
			references: { max: 5 },
			firstFrames: { max: 1 },
			prompt: { max: 5000 },
			voice: true,
			numberedMedia: true,
			parameters: {
				resolution: { type: 'string', default: '1080P', values: ['720P', '1080P'] },
				ratio: {
					type: 'string',
					default: '16:9',
					values: ['16:9', '9:16', '1:1', '4:3', '3:4'],
				},
				duration: { type: 'integer', default: 5, min: 2, max: 15 },
				prompt_extend: { type: 'boolean', default: true },
				watermark: { type: 'boolean', default: false },
			},
			maxDurationWithVideo: 10,
			ignoredWithFirstFrame: 'ratio',
		});
	});

	it('of a voice', () => {
		expect(referenceVoice).toEqual({
			mediaTypes: ['reference_image', 'reference_video'],
			fileTypes: ['wav', 'mp3'],
			seconds: { min: 1, max: 10 },
		});
	});

	it('of jobs and links', () => {
		expect(limits).toEqual({
			taskIdHours: 24,
			resultUrlHours: 24,
			imageUrlMinutes: 10,
			minPollSeconds: 3,
			waitMinutes: 20,
		});
		expect(jobKinds.task).toEqual({ endpoint: endpoints.task, pollSeconds: 10 });
		expect(jobKinds.video.endpoint).toBe(endpoints.video);
		expect(jobKinds.video.pollSeconds).toBeGreaterThanOrEqual(5);
		expect(jobKinds.video.pollSeconds).toBeLessThanOrEqual(10);
	});
});

describe('errors', () => {
	it('have every code of the service', () => {
		expect(Object.keys(errorCodes)).toEqual([
			'invalid_api_key',
			'model_not_found',
			'invalid_model',
			'invalid_prompt',
			'video_not_found',
			'video_not_ready',
			'quota_exceeded',
			'invalid_image_file',
			'upstream_error',
			'write_response_body_failed',
		]);
	});

	it('heal by waiting only where nobody has to change anything', () => {
		const healing = Object.keys(errorCodes).filter((code) => errorCodes[code].isTransient);
		expect(healing).toEqual(['video_not_ready', 'upstream_error', 'write_response_body_failed']);
	});

	it('have every status of the service', () => {
		for (const status of [400, 401, 403, 429, 500])
			expect(statusMeanings).toHaveProperty(`${status}`);
		expect(
			Object.keys(statusMeanings).filter((status) => statusMeanings[Number(status)].isTransient),
		).toEqual([...['408', '425', '429', '500']]);
	});

	it('say in one line what they mean and what to do', () => {
		for (const { meaning, refusal } of [errorCodes, statusMeanings].flatMap(Object.values)) {
			expect(meaning).toMatch(/^[a-z][^.\n]+$/);
			expect(adviceOf([{ about: 'refusal', refusal }])).toMatch(/^[A-Z].+\.$/);
		}
	});
});
