import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { retryExecution, runWorkflow, type WorkflowRun } from '../../harness';
import { picture } from '../../support/data/samples';
import { generations, isFor, itemsWith, jobCreates } from '../../support/workflows/itemOperations';
import { chain, credentialFor, modelGateway } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// A Retry with the currently saved workflow, after the user has changed which output the node makes of a response.

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ jobSeconds: 60, draw: async () => picture('red', 32, 24) },
	(world) => void ({ gateway, media } = world),
);

const operations = [...generations, ...jobCreates].filter(({ name }) => name !== 'image.edit');

/** The changed parameter, the operation, and its parameters before and after. */
const changes = operations.flatMap((operation) => {
	const parameters: IDataObject = operation.parameters;
	const isImage = parameters.resource === 'image';
	const change = (name: string, before: IDataObject, after: IDataObject) =>
		({
			name,
			operation,
			before: { ...parameters, ...before },
			after: { ...parameters, ...after },
		}) as const;
	const options = (more: IDataObject) => ({
		options: { ...(parameters.options as IDataObject), ...more },
	});
	return [
		change(
			'Include Input Fields',
			options({ includeInputFields: false }),
			options({ includeInputFields: true }),
		),
		...(jobCreates.includes(operation)
			? []
			: [change('Simplify', { simplify: true }, { simplify: false })]),
		...(isImage
			? [
					change('Download', { download: true }, { download: false }),
					change(
						'Put Output File in Field',
						{ download: true },
						{ download: true, binaryField: 'picture' },
					),
				]
			: []),
	];
});

/** Each change in both directions. */
const cases = changes.flatMap(({ before, after, ...change }) => [
	{ ...change, before, after, direction: 'in one direction' },
	{ ...change, before: after, after: before, direction: 'in the other direction' },
]);

const workflowOf = (parameters: IDataObject) => chain(modelGateway(parameters, { name: 'Paid' }));

const settings = () => ({
	credentials: credentialFor(gateway),
	input: itemsWith(['Waves', 'Clouds'], { media }),
});

/** The response of an image model with a field that Simplify leaves out. */
const imageWithBackground = () => {
	const data = [{ url: media[0].url }];
	const body = JSON.stringify({ created: 1, background: 'opaque', data });
	const always = { times: Infinity };
	return { route: 'imageGenerate', action: 'answer', accepted: true, body, ...always } as const;
};

/** The names of all fields and files of each output. */
const shapesOf = (run: WorkflowRun) =>
	run.items('Paid').map(({ json, binary = {} }) => ({
		fields: namesIn(json),
		files: Object.keys(binary).sort(),
	}));

function namesIn(value: unknown, at = ''): string[] {
	if (typeof value !== 'object' || value === null) return [at];
	// Only the first item of a list, and none of a list of numbers, such as a vector.
	if (Array.isArray(value))
		return typeof value[0] === 'object' ? namesIn(value[0], `${at}[]`) : [at];
	return Object.entries(value)
		.flatMap(([name, part]) => namesIn(part, `${at}.${name}`))
		.sort();
}

describe('a Retry with the currently saved workflow', () => {
	it.each(cases)(
		'gives every item the output of the changed node, and charges none again: $name of $operation.name, $direction',
		async ({ operation: { route }, before, after }) => {
			gateway.fault({
				...{ route, action: 'error', status: 400, code: 'invalid_prompt' },
				when: isFor('Clouds'),
			});
			if (route === 'imageGenerate') gateway.fault(imageWithBackground());
			const failed = await runWorkflow(workflowOf(before), settings());
			expect(failed.errorOf('Paid')?.message).toContain('Item 1');
			const retried = await retryExecution(failed, { workflow: workflowOf(after) });
			const shapes = shapesOf(retried);
			expect(gateway.ledger).toHaveLength(2);

			const fresh = await runWorkflow(workflowOf(after), settings());
			expect(shapes).toEqual(shapesOf(fresh));
			const old = await runWorkflow(workflowOf(before), settings());
			expect(shapes).not.toEqual(shapesOf(old));
		},
	);
});
