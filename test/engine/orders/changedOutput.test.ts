import type { IDataObject } from 'n8n-workflow';
import type { Gateway, Route } from '../../../gateway';
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

// A Retry with the currently saved workflow, after the user has changed which output the node makes of a response.

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ jobSeconds: 60, draw: async () => picture('red', 32, 24) },
	(world) => void ({ gateway, media } = world),
);

const prompt = '={{ $json.prompt }}';
const messages = { values: [{ role: 'user', content: prompt }] };
const ofChat = { model: byId('chat-1'), messages };

interface Paid {
	route: Route;
	parameters: IDataObject;
}

const chat: Paid = {
	route: 'chat',
	parameters: { resource: 'chat', operation: 'complete', ...ofChat },
};
const message: Paid = {
	route: 'message',
	parameters: { resource: 'message', operation: 'create', ...ofChat, maxTokens: 50 },
};
const image: Paid = {
	route: 'imageGenerate',
	parameters: { resource: 'image', operation: 'generate', model: byId('image-1'), prompt },
};
const embedding: Paid = {
	route: 'embedding',
	parameters: {
		...{ resource: 'embedding', operation: 'create', model: byId('embed-1'), input: prompt },
		options: { batchSize: 1 },
	},
};
const imageChat: Paid = {
	route: 'chat',
	parameters: { resource: 'image', operation: 'chat', model: byId('image-chat-1'), prompt },
};
const video: Paid = {
	route: 'videoCreate',
	parameters: { resource: 'video', operation: 'create', model: byId('vid-3.1'), prompt },
};
const referenceVideo: Paid = {
	route: 'referenceVideoCreate',
	parameters: { ...(createReferenceVideo().parameters as IDataObject), prompt },
};

const withOptions = ({ parameters }: Paid, options: IDataObject) => ({
	...parameters,
	options: { ...(parameters.options as IDataObject), ...options },
});

/** The changed parameter, the operation, and its parameters before and after. */
const changes: Array<[string, Paid, IDataObject, IDataObject]> = [
	...[
		['Chat: Complete', chat] as const,
		['Message: Create', message] as const,
		['Image: Generate', image] as const,
		['Image: Chat', imageChat] as const,
		['Embedding: Create', embedding] as const,
	].map(([name, paid]): [string, Paid, IDataObject, IDataObject] => [
		`Simplify of ${name}`,
		paid,
		{ ...paid.parameters, simplify: true },
		{ ...paid.parameters, simplify: false },
	]),
	[
		'Download of Image: Generate',
		image,
		{ ...image.parameters, download: true },
		{ ...image.parameters, download: false },
	],
	[
		'Put Output File in Field of Image: Generate',
		image,
		{ ...image.parameters, download: true, binaryField: 'data' },
		{ ...image.parameters, download: true, binaryField: 'picture' },
	],
	...[
		['Chat: Complete', chat] as const,
		['Message: Create', message] as const,
		['Image: Generate', image] as const,
		['Embedding: Create', embedding] as const,
		['Video: Create', video] as const,
		['Reference Video: Create', referenceVideo] as const,
	].map(([name, paid]): [string, Paid, IDataObject, IDataObject] => [
		`Include Input Fields of ${name}`,
		paid,
		withOptions(paid, { includeInputFields: false }),
		withOptions(paid, { includeInputFields: true }),
	]),
];

/** Each change in both directions. */
const cases = changes.flatMap(([name, paid, one, other]) => [
	[name, 'in one direction', paid, one, other] as const,
	[name, 'in the other direction', paid, other, one] as const,
]);

const workflowOf = (parameters: IDataObject) => chain(modelGateway(parameters, { name: 'Paid' }));

const settings = () => ({
	credentials: credentialFor(gateway),
	input: ['Waves', 'Clouds'].map((text) => ({ json: { prompt: text, media } })),
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
		'gives every item the output of the changed node, and charges none again: %s, %s',
		async (_, __, { route }, before, now) => {
			const isClouds = ({ body }: { body?: unknown }) => JSON.stringify(body).includes('Clouds');
			gateway.fault({
				route,
				action: 'error',
				status: 400,
				code: 'invalid_prompt',
				when: isClouds,
			});
			if (route === 'imageGenerate') gateway.fault(imageWithBackground());
			const failed = await runWorkflow(workflowOf(before), settings());
			expect(failed.errorOf('Paid')?.message).toContain('Item 1');
			const retried = await retryExecution(failed, { workflow: workflowOf(now) });
			const shapes = shapesOf(retried);
			expect(gateway.ledger).toHaveLength(2);

			const fresh = await runWorkflow(workflowOf(now), settings());
			expect(shapes).toEqual(shapesOf(fresh));
			const old = await runWorkflow(workflowOf(before), settings());
			expect(shapes).not.toEqual(shapesOf(old));
		},
	);
});
