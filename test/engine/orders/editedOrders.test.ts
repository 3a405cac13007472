import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import {
	EngineProcess,
	recoverExecution,
	retryExecution,
	runWorkflow,
	type StoredExecution,
} from '../../harness';
import { storedBy } from '../../support/workflows/interruptions';
import { chain, createVideo, credentialFor } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// n8n is killed while it orders, the user opens the node, and presses Retry with the saved workflow.

let gateway: Gateway;

withGateway({ jobSeconds: 60 }, (world) => void ({ gateway } = world));

const model = { __rl: true, mode: 'list', value: 'vid-3.1', cachedResultName: 'vid-3.1' };

/** The prompt differs in each try, so that only the node itself can tell that the order is the same. */
const reworded = '={{ $json.prompt }} at {{ $now.toMillis() }}, {{ Math.random() }}';

const workflowOf = (parameters: IDataObject = {}) =>
	chain(createVideo({ model, prompt: reworded, options: {}, ...parameters }));

/** What n8n's database holds of an execution of which n8n is killed when its job has been created. */
async function killed(workflow: ReturnType<typeof workflowOf>): Promise<StoredExecution> {
	const n8n = new EngineProcess();
	gateway.once('job', () => n8n.kill());
	const stored = await storedBy(
		n8n,
		async (onStart) =>
			await runWorkflow(workflow, {
				...{ credentials: credentialFor(gateway), mode: 'trigger', onStart },
				input: [{ json: { prompt: 'A boat' } }],
			}),
	);
	return recoverExecution(stored, { ended: ['Start'], begun: 'Create' });
}

describe('the Retry of a killed execution with the saved workflow', () => {
	it.each<[string, IDataObject]>([
		['nothing', {}],
		['the name of the model in its menu', { model: { ...model, cachedResultName: 'New name' } }],
		['the link of the model in its menu', { model: { ...model, cachedResultUrl: 'http://a' } }],
		['the way in which the model was chosen', { model: { ...model, mode: 'id' } }],
		['an option that was added and left empty', { options: { extraBody: '{}' } }],
		[
			'options that are no part of an order',
			{
				options: {
					...{ limits: { maxOrders: 9 }, timeout: 99, parallelRequests: 1 },
					...{ includeInputFields: true, skipChecks: true },
				},
			},
		],
		['a space in an expression', { prompt: reworded.replace('Math', ' Math') }],
		['a field of a newer version that has its default', { newField: false }],
	])(
		'places no second order when the user changed nothing that is ordered: %s',
		async (_, edit) => {
			const stored = await killed(workflowOf());
			const retried = await retryExecution(stored, { workflow: workflowOf(edit) });
			expect(retried.errorOf('Create')?.message).toContain(
				'Another order was sent before in place of this one',
			);
			expect(gateway.ledger).toHaveLength(1);
		},
	);

	const edited = { prompt: 'Another boat' };

	it('places the order that the user has edited', async () => {
		const retried = await retryExecution(await killed(workflowOf()), {
			workflow: workflowOf(edited),
		});
		expect(retried.items('Create')).toHaveLength(1);
		expect(gateway.ledger).toHaveLength(2);
	});

	it('counts the order before the edit for Max Orders per Execution', async () => {
		const options = { limits: { maxOrders: 1 } };
		const stored = await killed(workflowOf({ options }));
		const retried = await retryExecution(stored, { workflow: workflowOf({ ...edited, options }) });
		expect(retried.errorOf('Create')?.message).toContain('the limit of 1 order per execution');
		expect(gateway.ledger).toHaveLength(1);
	});
});
