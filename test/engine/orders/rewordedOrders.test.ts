import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { retryExecution, runWorkflow, type WorkflowRun } from '../../harness';
import { picture } from '../../support/data/samples';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	modelGateway,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// Orders that differ in each try: by chance, or because the user has changed the node.

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ jobSeconds: 60, draw: async () => picture('red', 32, 24) },
	(world) => void ({ gateway, media } = world),
);

const random = '{{ Math.floor(Math.random() * 1e9) }}';
const video = (options: IDataObject = {}) =>
	chain(createReferenceVideo({ options: { duration: 2, seed: `=${random}`, ...options } }));
const image = (options: IDataObject = {}) =>
	chain(
		modelGateway(
			{
				...{ resource: 'image', operation: 'generate', model: byId('image-1') },
				...{ prompt: `={{ $json.prompt }}, ${random}`, options },
			},
			{ name: 'Create' },
		),
	);

const run = async (workflow: ReturnType<typeof video>): Promise<WorkflowRun> =>
	await runWorkflow(workflow, {
		...{ credentials: credentialFor(gateway), mode: 'trigger' },
		input: ['Waves', 'Clouds'].map((prompt) => ({ json: { prompt, media } })),
	});

const timesCharged = () =>
	['Waves', 'Clouds'].map(
		(prompt) =>
			gateway.requests.filter(
				({ body, requestId }) =>
					JSON.stringify(body)?.includes(prompt) &&
					gateway.ledger.some((charge) => charge.requestId === requestId),
			).length,
	);

const isOfClouds = ({ body }: { body?: unknown }) => JSON.stringify(body).includes('Clouds');
const refusal = { action: 'error', status: 400, code: 'invalid_prompt' } as const;
const routeOf = (kind: string) => (kind === 'videos' ? 'referenceVideoCreate' : 'imageGenerate');

it.each<[string, IDataObject]>([
	['If No Response Arrives', { ifAnswerLost: 'resend' }],
	['Max Orders per Execution', { maxOrders: 9 }],
	['Request Timeout', { timeout: 99 }],
	['Parallel Requests', { parallelRequests: 1 }],
	['Include Input Fields', { includeInputFields: true }],
	['Skip Checks', { skipChecks: true }],
])(
	'charges each order once on Retry with the saved workflow after the user changed %s',
	async (_, change) => {
		gateway.fault({ ...refusal, route: 'referenceVideoCreate', when: isOfClouds });
		const failed = await run(video());
		const retried = await retryExecution(failed, { workflow: video(change) });
		expect(retried.status).toBe('success');
		expect(timesCharged()).toEqual([1, 1]);
	},
);

it('resends on Retry only the order whose response was lost when the user chose Send Again', async () => {
	gateway.fault({
		...{ route: 'referenceVideoCreate', action: 'reset', accepted: true, when: isOfClouds },
	});
	const failed = await run(video());
	const retried = await retryExecution(failed, { workflow: video({ ifAnswerLost: 'resend' }) });
	expect(retried.status).toBe('success');
	expect(timesCharged()).toEqual([1, 2]);
});

describe.each([
	['videos', video],
	['images', image],
])('%s of a failed execution', (kind, workflowOf) => {
	it('charges each order once, however often the execution is retried', async () => {
		gateway.fault({ ...refusal, route: routeOf(kind), when: isOfClouds });
		const failed = await run(workflowOf());
		for (let click = 0; click < 3; click++) {
			expect((await retryExecution(failed)).items('Create')).toHaveLength(2);
		}
		expect(timesCharged()).toEqual([1, 1]);
	});

	it('charges each order once over several Retries that each follow a changed setting', async () => {
		gateway.fault({ ...refusal, route: routeOf(kind), when: isOfClouds });
		const failed = await run(workflowOf());
		for (const timeout of [99, 98, 97]) {
			await retryExecution(failed, { workflow: workflowOf({ timeout }) });
		}
		expect(timesCharged()).toEqual([1, 1]);
	});

	it('charges each order once when a Retry is retried as well', async () => {
		const fault = { ...refusal, route: routeOf(kind), when: isOfClouds } as const;
		gateway.fault(fault);
		const failed = await run(workflowOf());
		gateway.fault(fault);
		const again = await retryExecution(failed);
		await retryExecution(again);
		await retryExecution(failed);
		await retryExecution(again);
		expect(timesCharged()).toEqual([1, 1]);
	});
});
