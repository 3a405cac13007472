import type { INode } from 'n8n-workflow';
import {
	type RefusalKind,
	errorCodes,
	statusMeanings,
} from '../../nodes/shared/gateway/protocol/errorCodes';
import { adviceOf } from '../../nodes/shared/n8n/errors/advice';
import { generations, isFor, itemsWith } from '../support/workflows/itemOperations';
import { chain, credentialFor, modelGateway } from '../support/workflows/workflows';
import type { Gateway } from '../../gateway';
import { runWorkflow } from '../harness';
import { withGateway } from '../support/http/withGateway';

const link = 'https://storage.example/picture.png';

/** Fixed responses for many items: the embedded gateway would draw 500 images. */
const responses: Partial<Record<(typeof generations)[number]['name'], object>> = {
	'image.generate': { data: [{ url: link }] },
	'image.edit': { data: [{ url: link }] },
	'image.chat': { choices: [{ message: { role: 'assistant', content: `![it](${link})` } }] },
};

const adviceOnRefusal = (refusal: RefusalKind) =>
	adviceOf({
		...{ message: 'No', reach: 'answered', status: 400, refusal, cost: 'generation' },
		...{ billed: 'no', retry_can_help: false },
	});

/** "Errors", general table and codes: refusals that no retry can change, with their advice. */
const refusals = [
	...Object.entries(errorCodes)
		.filter(([, { isTransient: heals }]) => !heals)
		.map(([code, { refusal }]) => ({
			...{ status: code === 'quota_exceeded' ? 429 : 400, code },
			advice: adviceOnRefusal(refusal),
		})),
	...[400, 401, 403].map((status) => ({
		status,
		code: 'other',
		advice: adviceOnRefusal(statusMeanings[status].refusal),
	})),
];
const transient = [
	{ status: 429, code: 'rate_limit' },
	{ status: 500, code: 'server_error' },
	{ status: 500, code: 'upstream_error' },
	{ status: 500, code: 'write_response_body_failed' },
];

describe.each(generations)('$name', ({ name, route, parameters }) => {
	let gateway: Gateway;
	withGateway({}, (world) => void ({ gateway } = world));

	const run = async (texts: string[], settings: Partial<INode> = {}) =>
		await runWorkflow(chain(modelGateway(parameters, settings)), {
			credentials: credentialFor(gateway),
			input: itemsWith(texts),
		});
	const calls = () => gateway.requests.filter((request) => request.route === route);

	it.each(refusals)(
		'reports at once what HTTP $status $code means',
		async ({ status, code, advice }) => {
			gateway.fault({ route, action: 'error', status, code, message: 'so it says' });
			const error = (await run(['One'])).errorOf('Model Gateway');
			expect(error?.message).toMatch(
				new RegExp(`^Could not .+: so it says \\(HTTP ${status}, ${code}\\)$`),
			);
			expect(error?.description).toContain(advice);
			expect(calls()).toHaveLength(1);
			expect(gateway.ledger).toEqual([]);
		},
	);

	it.each(transient)(
		'sends the request again after HTTP $status $code',
		async ({ status, code }) => {
			gateway.fault({ route, action: 'error', status, code, headers: { 'retry-after': '0' } });
			expect((await run(['One'])).status).toBe('success');
			expect(calls()).toHaveLength(2);
			expect(gateway.ledger).toHaveLength(1);
		},
	);

	it('delivers the other items when one fails and the node continues on error', async () => {
		const texts = ['One', 'Two [blocked]', 'Three'];
		const result = await run(texts, { onError: 'continueErrorOutput' });
		const good = result.items('Model Gateway', { output: 0 });
		expect(good.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 2 }]);
		expect(result.items('Model Gateway', { output: 1 })).toMatchObject([
			{
				json: {
					error: expect.stringContaining('HTTP 400'),
					details: { code: 'invalid_prompt', billed: 'no' },
				},
				pairedItem: { item: 1 },
			},
		]);
	});

	it('charges ten items ten times when the seventh fails and the node is retried', async () => {
		const texts = Array.from({ length: 10 }, (_, index) => `Text ${index}.`);
		const fault = { route, action: 'error', status: 400, code: 'invalid_prompt' } as const;
		gateway.fault({ ...fault, when: isFor('Text 6.') });
		const retry = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
		const items = (await run(texts, retry)).items('Model Gateway');
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(texts.map((_, item) => ({ item })));
		expect(gateway.ledger).toHaveLength(10);
		expect(calls()).toHaveLength(11);
	});

	const many = 500;
	it(`processes ${many} items, each with its own text, and keeps their sequence`, async () => {
		const response = responses[name];
		if (response)
			gateway.fault({ route, action: 'answer', body: JSON.stringify(response), times: Infinity });
		const texts = Array.from({ length: many }, (_, index) => `Text ${index}.`);
		const items = (await run(texts)).items('Model Gateway');
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(texts.map((_, item) => ({ item })));
		const sent = calls().map(({ body }) => /Text \d+\./.exec(JSON.stringify(body))?.[0]);
		expect([...sent].sort()).toEqual([...texts].sort());
	});
});
