import type { FaultAction } from '../../gateway/faults/actions';
import type { FaultRule } from '../../gateway/faults/rules';
import { EngineProcess, processedItems, retryExecution, type RunOptions } from '../harness';
import { storedBy } from '../support/workflows/interruptions';
import { chain, credentialFor } from '../support/workflows/workflows';
import {
	charged,
	create,
	isFor,
	routeOf,
	images,
	run,
	texts,
	videos,
	withOrders,
	world,
	type Fields,
	type Thing,
} from '../support/orders';

withOrders({ idempotencyHeader: 'Idempotency-Key' });

const html = { 'content-type': 'text/html' };
const says = (status: number, error: object, headers = {}): FaultAction => {
	const body = JSON.stringify({ error: { message: 'No', ...error } });
	return { action: 'answer', status, body, headers };
};
const page = (status: number): FaultAction => {
	return { action: 'answer', status, body: '<html><h1>Sorry</h1></html>', headers: html };
};
const answer = (status: number, body: string, headers = {}): FaultAction => {
	return { action: 'answer', status, body, headers };
};
const accepted = { accepted: true };

/** Whether another model is tried after each fault: for a video, for a chat. */
const faults: Array<[FaultAction, forVideo: boolean, forChat: boolean]> = [
	[says(400, { code: 'model_not_found' }), true, true],
	[says(404, { code: 'model_not_found', param: 'model' }), true, true],
	[says(400, { code: 'invalid_model' }), true, true],
	[says(200, { code: 'invalid_model' }), true, true],
	[says(403, { message: "The key's group has no permission for image-1" }), true, true],
	[says(403, { code: 'permission_denied' }), true, true],
	[says(429, {}), true, true],
	[says(429, { code: 'rate_limit_exceeded', message: 'Too many input tokens' }), true, true],
	[says(429, {}, { 'retry-after': '3600' }), true, true],
	[says(500, { code: 'upstream_error' }), true, true],
	// A video is created again only where the code and the status say that nothing was made.
	[says(503, { code: 'upstream_error', message: 'Overloaded' }), false, true],
	[says(400, { code: 'upstream_error' }), false, true],
	[says(500, {}), false, true],
	[says(502, { type: 'server_error' }), false, true],
	[says(503, { message: 'The model is overloaded' }), false, true],
	[says(529, { type: 'overloaded_error' }), false, true],
	[says(200, { type: 'server_error', message: 'overloaded' }), false, true],
	// It names neither moderation nor permission: of a video, it may be either.
	[says(403, {}), false, true],
	[says(403, { message: 'Blocked by content moderation, or no permission' }), false, false],
	[says(403, { message: 'Blocked by content moderation' }), false, false],
	[says(403, { message: 'This prompt is not allowed' }), false, false],
	[says(403, { message: 'Not permitted: the image shows a person' }), false, false],
	[says(400, { code: 'invalid_prompt' }), false, false],
	[says(500, { code: 'invalid_prompt' }), false, false],
	[says(400, { message: 'Rejected by our safety system' }), false, false],
	[says(500, { code: 'upstream_error', message: 'It violates the usage policy' }), false, false],
	[says(500, { code: 'upstream_error', message: 'Provider rejected the prompt' }), false, false],
	[says(500, { code: 'upstream_error', message: 'The provider timed out' }), false, false],
	[says(500, { code: 'upstream_error', type: 'content_filter' }), false, false],
	[says(504, {}), false, false],
	[says(408, {}), false, false],
	[says(400, {}), false, false],
	[says(400, { code: 'invalid_parameter', param: 'model' }), false, false],
	[says(400, { code: 'invalid_image_file' }), false, false],
	[says(401, { code: 'invalid_api_key' }), false, false],
	[says(403, { message: 'Invalid API key' }), false, false],
	[says(402, {}), false, false],
	[says(429, { code: 'quota_exceeded' }), false, false],
	[says(429, { message: 'Insufficient balance' }), false, false],
	[says(403, { code: 'insufficient_user_quota' }), false, false],
	[says(404, {}), false, false],
	[says(409, {}), false, false],
	[says(410, {}), false, false],
	[says(413, {}), false, false],
	[says(422, {}), false, false],
	[says(500, { code: 'write_response_body_failed' }), false, false],
	[answer(403, '{"message":"Forbidden"}'), false, false],
	[answer(429, '{"message":"Limit Exceeded"}'), false, false],
	[answer(401, '', { 'www-authenticate': 'Basic realm="proxy"' }), false, false],
	[answer(500, ''), false, false],
	...[403, 404, 407, 408, 429, 500, 502, 503, 504, 522, 524].map(
		(status): [FaultAction, boolean, boolean] => [page(status), false, false],
	),
	[page(200), false, false],
	[answer(200, ''), false, false],
	[answer(200, '{}'), false, false],
	[answer(200, '{"error":'), false, false],
	[answer(302, '', { location: 'https://example.com/' }), false, false],
	[answer(308, '', { location: 'https://example.com/' }), false, false],
	[{ action: 'reset' }, false, false],
	[{ action: 'stall' }, false, false],
	[{ action: 'cut', after: 5 }, false, false],
	[{ action: 'freeze', after: 5 }, false, false],
	[{ action: 'reset', ...accepted }, false, false],
	[{ action: 'stall', ...accepted }, false, false],
	[{ ...page(502), ...accepted } as FaultAction, false, false],
	[
		{ ...says(500, { code: 'write_response_body_failed' }), ...accepted } as FaultAction,
		false,
		false,
	],
];

const models = { 'a video': 'vid-3.1', 'a chat': 'chat-1' } as const;
const others = { 'a video': 'vid-3.1-fast', 'a chat': 'chat-1-mini' } as const;
const nameOf = (item: number) => `Fault ${String(item).padStart(3, '0')}`;
const modelIn = (body: unknown) => (body as { model: string }).model;

/** Which models were requested for this prompt, each once. */
const triedFor = (thing: Thing, prompt: string) => {
	const own = world.gateway.requests.filter(({ route }) => route === routeOf(thing));
	return [...new Set(own.filter(isFor(prompt)).map(({ body }) => modelIn(body)))];
};

const continues = { onError: 'continueRegularOutput' } as const;

it.each(['a video', 'a chat'] as const)(
	'switches only after unbilled refusals, and never orders twice: %s',
	async (thing) => {
		const { gateway } = world;
		const [model, other] = [models[thing], others[thing]];
		for (const [item, [fault]] of faults.entries()) {
			gateway.fault({
				...fault,
				route: routeOf(thing),
				times: Infinity,
				when: (request) => isFor(nameOf(item))(request) && modelIn(request.body) === model,
			});
		}
		const options = { ifModelRefuses: other };
		const node = create(thing, { model, options, settings: continues });
		const prompts = faults.map((_, item) => nameOf(item));
		const result = await run(chain(node), prompts);

		const tried = prompts.map((prompt) => triedFor(thing, prompt));
		const forThing = thing === 'a video' ? 1 : 2;
		expect(tried).toEqual(faults.map((row) => (row[forThing] ? [model, other] : [model])));
		const made = result.items('Create').map(({ json }) => json.model);
		expect(made).toEqual(faults.map((row) => (row[forThing] ? other : undefined)));
		const charges = prompts.map((prompt) => {
			const own = gateway.requests.filter(isFor(prompt)).map(({ requestId }) => requestId);
			return gateway.ledger.filter(({ requestId }) => own.includes(requestId)).length;
		});
		expect(Math.max(...charges)).toBe(1);
		expect(charges.filter((count, item) => count === 0 && faults[item][forThing])).toEqual([]);
	},
);

const unknownModel = says(400, { code: 'model_not_found' });
const video = (options: Fields = {}, more: Fields = {}) =>
	create('a video', { options: { ifModelRefuses: 'vid-3.1-fast', ...options }, ...more });
const fault = (action: FaultAction, more: Pick<FaultRule, 'times' | 'when'> = {}) =>
	world.gateway.fault({ ...action, route: 'videoCreate', ...more });
const withKeys = () => ({
	credentials: credentialFor(world.gateway, {
		advanced: true,
		idempotencyHeaderName: 'Idempotency-Key',
	}),
});
const ordered = () => world.gateway.jobs.list().map(({ order }) => order.model);

it.each([
	['a video', { action: 'reset', ...accepted }, unknownModel],
	['a chat', page(502), says(429, {})],
] as Array<[Thing, FaultAction, FaultAction]>)(
	'tries no other model after a refusal that followed a try with an unknown outcome: %s',
	async (thing, first, then) => {
		const ifModelRefuses = ['vid-3.1-fast', 'chat-1-mini'];
		const options = { ifModelRefuses: `=${JSON.stringify(ifModelRefuses)}` };
		const resends = thing === 'a video' && { ifAnswerLost: 'resend' };
		world.gateway.fault({ ...first, route: routeOf(thing) });
		world.gateway.fault({ ...then, route: routeOf(thing), times: Infinity });
		await run(chain(create(thing, { options: { ...options, ...resends } })));
		expect(triedFor(thing, 'Waves')).toHaveLength(1);
	},
);

it.each([...videos, ...images, ...texts])(
	'every operation has other models, except that vectors of two models do not mix: %s',
	async (thing) => {
		world.gateway.fault({ ...unknownModel, route: routeOf(thing), times: 2 });
		await run(chain(create(thing, { options: { ifModelRefuses: 'other-1' } })));
		const [, ...others] = triedFor(thing, '"model"');
		expect(others).toEqual(thing === 'an embedding' ? [] : ['other-1']);
	},
);

describe('one order with several models', () => {
	it('counts once, is made by the first model that is not refused, and is named after it', async () => {
		fault(unknownModel, { times: 2, when: isFor('Waves') });
		const options = { ifModelRefuses: 'vid-9, vid-3.1-fast, vid-3.1', maxOrders: 1 };
		const result = await run(chain(video(options, { settings: continues })), ['Waves', 'Fog']);
		expect(triedFor('a video', 'Waves')).toEqual(['vid-3.1', 'vid-9', 'vid-3.1-fast']);
		const [made, refused] = result.items('Create');
		expect(made.json).toMatchObject({ model: 'vid-3.1-fast', status: 'queued' });
		expect(refused.json.error).toContain('the limit of 1 order per execution');
		expect(result.hintsOf('Create').join()).toContain('Made with vid-3.1-fast.');
		expect(charged()).toBe(1);
	});

	it('is limited by its highest cost, and costs what the model costs that made it', async () => {
		const prices = JSON.stringify({
			'vid-3.1': { per_video: 1 },
			'vid-3.1-fast': { per_video: 3 },
		});
		const credentials = credentialFor(world.gateway, { advanced: true, prices });
		fault(unknownModel);
		const ordering = async (maxCost: number) =>
			await run(chain(video({ maxCost })), ['Waves'], { credentials });
		expect((await ordering(2)).errorOf('Create')?.message).toContain('estimated cost of 3');
		expect((await ordering(3)).items('Create')[0].json).toMatchObject({ estimated_cost: 3 });
	});

	it('names every refusal when all models are refused, and orders with the first in a Retry', async () => {
		const refusing = fault(unknownModel, { times: Infinity });
		const failed = await run(chain(video()));
		expect(failed.errorOf('Create')?.description).toMatch(/response to vid-3.1-fast. vid-3.1 was/);
		refusing.remove();
		expect((await retryExecution(failed)).items('Create')[0].json.model).toBe('vid-3.1');
		expect(charged()).toBe(1);
	});

	it('is reused in a Retry as what the other model made, also if the option has changed', async () => {
		fault(unknownModel, { when: isFor('Waves') });
		fault(says(400, { code: 'invalid_prompt' }), { when: isFor('Fog') });
		const failed = await run(chain(video()), ['Waves', 'Fog']);
		expect(failed.status).toBe('error');
		const changed = chain(video({ ifModelRefuses: '' }));
		const retried = await retryExecution(failed, { workflow: changed });
		expect(retried.items('Create').map(({ json }) => json.model)).toEqual([
			'vid-3.1-fast',
			'vid-3.1',
		]);
		expect(charged()).toBe(2);
	});

	it('is previewed with its first model, and checked for each', async () => {
		const previewed = await run(chain(video({}, { preview: true })));
		expect(previewed.items('Create')[0].json).toMatchObject({
			would: 'order',
			request: { body: { model: 'vid-3.1' } },
		});
		const wrong = await run(chain(video({ ifModelRefuses: 'alpha-1.1-r2v' })));
		expect(wrong.errorOf('Create')?.message).toBe(
			'With alpha-1.1-r2v: Model alpha-1.1-r2v belongs to Reference Video: choose that resource',
		);
		expect(world.gateway.requests).toHaveLength(0);
	});

	it('has another model also where Extra Body names the first', async () => {
		fault(says(403, { code: 'permission_denied' }));
		await run(chain(video({ extraBody: '{ "model": "vid-3.1-landscape" }' })));
		expect(triedFor('a video', 'Waves')).toEqual(['vid-3.1-landscape', 'vid-3.1-fast']);
	});

	it('has an idempotency key for each model', async () => {
		fault(unknownModel);
		fault({ action: 'reset', ...accepted });
		await run(chain(video()), ['Waves'], withKeys());
		const keys = world.gateway.requests.map(({ headers }) => headers['idempotency-key']);
		expect(keys[1]).toBe(keys[2]);
		expect(new Set(keys).size).toBe(2);
		expect(ordered()).toEqual(['vid-3.1-fast']);
	});
});

describe.each([
	['without idempotency keys', () => ({})],
	['with idempotency keys', withKeys],
])('an order that n8n does not finish, %s', (_, options) => {
	const killed = async (arm: (n8n: EngineProcess) => void) => {
		const n8n = new EngineProcess();
		arm(n8n);
		return await storedBy(
			n8n,
			async (onStart) => await run(chain(video()), ['Waves'], { ...options(), onStart }),
		);
	};

	it('is not placed again when n8n is killed while the other model makes it', async () => {
		const execution = await killed((n8n) => {
			fault(unknownModel);
			fault({ action: 'stall', ...accepted }, { when: () => (n8n.kill(), true) });
		});
		await retryExecution(await retryExecution(execution));
		expect(ordered()).toEqual(['vid-3.1-fast']);
	});

	it('is not placed with another model in a Retry after a kill during its first request', async () => {
		const execution = await killed((n8n) => {
			fault({ action: 'stall', ...accepted }, { when: () => (n8n.kill(), true) });
		});
		fault(says(429, {}), { times: Infinity });
		await retryExecution(await retryExecution(execution));
		expect(ordered()).toEqual(['vid-3.1']);
	});

	it('is not placed again when the response to the other model is lost', async () => {
		fault(unknownModel);
		fault({ action: 'reset', ...accepted }, { times: 5 });
		const failed = await run(chain(video()), ['Waves'], options());
		expect(failed.errorOf('Create')?.context.data).toMatchObject({ billed: 'unknown' });
		expect(failed.errorOf('Create')?.description).not.toContain('same key');
		await retryExecution(await retryExecution(failed));
		expect(ordered()).toEqual(['vid-3.1-fast']);
	});

	it('is not sent to another model after Stop', async () => {
		let stop = () => {};
		fault(unknownModel, { when: () => (stop(), true) });
		const onStart = (cancel: () => void) => void (stop = cancel);
		const stopped = await run(chain(video()), ['Waves'], { ...options(), onStart });
		expect(stopped.status).toBe('canceled');
		expect(triedFor('a video', 'Waves')).toEqual(['vid-3.1']);
	});
});

it.each<[string, FaultAction, boolean]>([
	['before its first text', { action: 'breakOff', after: 0, code: 'upstream_error' }, true],
	['after a text', { action: 'breakOff', after: 3, code: 'upstream_error' }, false],
	['cut off', { action: 'cut', after: '60%' }, false],
])(
	'a stream of a chat is left for another model only before any text: %s',
	async (_, action, isLeft) => {
		world.gateway.fault({
			...action,
			route: 'chat',
			times: Infinity,
			when: ({ body }) => modelIn(body) === 'chat-1',
		});
		const options = { stream: true, ifModelRefuses: 'chat-1-mini' };
		await run(chain(create('a chat', { options })));
		expect(triedFor('a chat', 'Waves')).toHaveLength(isLeft ? 2 : 1);
	},
);

it('with a key, a kill between two models lets a Retry ask the first model again, and no other', async () => {
	const n8n = new EngineProcess();
	const onRefusal = () => (processedItems.precede = () => n8n.kill());
	fault(unknownModel, { when: () => (onRefusal(), true) });
	const order = async (onStart: RunOptions['onStart']) =>
		await run(chain(video()), ['Waves'], { ...withKeys(), onStart });
	const killed = await storedBy(n8n, order);
	processedItems.precede = () => {};
	expect((await retryExecution(killed)).status).toBe('success');
	expect(triedFor('a video', 'Waves')).toEqual(['vid-3.1']);
	expect(charged()).toBe(1);
});
