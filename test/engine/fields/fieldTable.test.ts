import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { Media } from '../../../nodes/shared/service/jobs/referenceVideo';
import { endpoints, type Endpoint } from '../../../nodes/shared/service/protocol/endpoints';
import { referenceVideoModels } from '../../../nodes/shared/service/protocol/models';
import type { Operation } from '../../../nodes/shared/n8n/operations/operation';
import { subjects } from '../../support/workflows/everyNode';
import { registerTypes } from '../../harness';
import { withGateway } from '../../support/http/withGateway';
import { withValue } from '../../support/data/anyParameter';
import { addressOf, fieldRows, operationName, type FieldRow } from '../../support/pages/fieldRows';
import { picture } from '../../support/data/samples';
import { testNode } from '../../support/workflows/testNode';
import { byId, chain, modelGateway } from '../../support/workflows/workflows';

const link = 'https://firm.example/sample.mp3';
const photo = Buffer.from(picture('blue'));

/** An earlier node with two files. */
const camera = testNode('camera', {}, async function () {
	const make = async (bytes: Buffer, name: string) =>
		await this.helpers.prepareBinaryData(bytes, name, 'image/png');
	const data = await make(Buffer.from(picture('red')), 'red.png');
	return [[{ json: {}, binary: { data, photo: await make(photo, 'photo.png') } }]];
});

/** Parameters that an operation requires, and an image for the field `detail` to belong to. */
function requiredBy({ resource, value }: Operation): INodeParameters {
	const name = `${resource.value} ${value}`;
	const parameters = subjects.find(([subject]) => subject === name)?.[1].parameters ?? {};
	const image = ['images', 'values', '0', 'url'];
	const paths = {
		'chat complete': [['messages', 'values', '0', ...image]],
		'image chat': [image, ['earlierMessages', 'values', '0', ...image]],
	}[name];
	if (paths) {
		return paths.reduce(
			(all, path) => withValue(all, path, 'https://firm.example/a.png'),
			parameters,
		);
	}
	// A model without rules accepts every field.
	return name === 'referenceVideo create'
		? { ...parameters, model: byId('gamma-3.0-r2v') }
		: parameters;
}

interface Sample {
	value: unknown;
	/** The part of the value that the request must contain, as JSON. */
	sent: string;
}

/** A value that the request does not contain unless the parameter is set. */
function sampleOf({ property, request, rule }: FieldRow): Sample {
	const { name, type, typeOptions, options = [] } = property;
	switch (type) {
		case 'resourceLocator':
			return { value: byId('sample-model'), sent: 'sample-model' };
		case 'boolean':
			return { value: !property.default, sent: String(!property.default) };
		case 'number': {
			const value = rule?.max ?? Number(property.default) + 1;
			return { value, sent: String(value) };
		}
		case 'options': {
			const values = options.map((option) => ('value' in option ? String(option.value) : ''));
			const value = values.find((other) => other !== property.default) ?? '';
			return { value, sent: value };
		}
		case 'json':
			return { value: JSON.stringify([{ type: 'reference_image', url: link }]), sent: link };
		case 'fixedCollection':
			return { value: { values: [{ content: link, url: link }] }, sent: link };
		default:
			if (/binaryField$/i.test(name)) return { value: 'photo', sent: sentFile(request) };
			return { value: typeOptions?.multipleValues ? [link] : link, sent: link };
	}
}

/** How the request contains the file: as a link, as a data URL, or as the file itself. */
function sentFile(request: string): string {
	if (request.startsWith('input.media')) return '/binary-data/signed';
	return request.startsWith('messages') ? photo.toString('base64') : 'photo.png';
}

/** The values at a path of a request, in all entries of its lists. */
function valuesAt(body: unknown, path: string): unknown[] {
	return path.split('.').reduce(
		(found, step) => {
			const name = step.replace('[]', '');
			const values = found.flatMap((value) => {
				const inner = (value as IDataObject | null)?.[name];
				return inner === undefined ? [] : [inner];
			});
			return step === name ? values : values.filter(Array.isArray).flat();
		},
		[body],
	);
}

function routeOf({ endpoint }: Operation): keyof typeof endpoints {
	const routes = Object.keys(endpoints) as Array<keyof typeof endpoints>;
	return routes.find((route) => endpoints[route] === endpoint) ?? 'models';
}

describe('parameters and their fields of the request', () => {
	const { gateway, runWorkflow } = withGateway({});
	const bare = new Map<Operation, unknown>();

	beforeAll(() => registerTypes({ nodes: [camera] }));
	beforeEach(() => {
		// Only the requests matter: the gateway refuses them all, draws nothing, and fetches no link.
		const refusal = { action: 'error', status: 403, code: 'permission_denied' } as const;
		for (const route of new Set(fieldRows.map(({ operation }) => routeOf(operation)))) {
			gateway.fault({ route, ...refusal, times: Infinity });
		}
	});

	const bodyOf = async ({ resource, value }: Operation, parameters: INodeParameters) => {
		const before = gateway.requests.length;
		const node = modelGateway({
			resource: resource.value,
			operation: value,
			...(parameters as IDataObject),
		});
		const result = await runWorkflow(chain({ name: 'Camera', type: 'test.camera' }, node), {
			restApiUrl: 'https://n8n.firm.example/rest',
		});
		const request = gateway.requests[before];
		if (request === undefined) throw new Error(result.errorOf(node.name)?.message);
		return request.body;
	};

	it.each(
		fieldRows.map((row) => ({
			row,
			name: `${operationName(row.operation)}: ${row.labels.join(' → ')}`,
			request: row.request,
		})),
	)('$name sets $request', async ({ row }) => {
		const { operation, place, request } = row;
		const required = requiredBy(operation);
		bare.set(operation, bare.get(operation) ?? (await bodyOf(operation, required)));
		const sample = sampleOf(row);
		const chosen = place.chosen.reduce(
			(parameters, choice) => withValue(parameters, choice.path, choice.value),
			required,
		);
		const body = await bodyOf(operation, withValue(chosen, place.path, sample.value));

		expect(JSON.stringify(valuesAt(body, request))).toContain(sample.sent);
		const without = valuesAt(bare.get(operation), request);
		if (place.path[0] === 'options') expect(without).toEqual([]);
		expect(JSON.stringify(without)).not.toContain(sample.sent);
	});
});

/** The fields of a media item. The endpoint has no table of them; the compiler checks that this one is complete. */
const mediaFields = { type: true, url: true, reference_voice: true } satisfies Record<
	keyof Media,
	true
>;

const documented = [
	...Object.values<Endpoint>(endpoints).flatMap((endpoint) =>
		Object.keys(endpoint.fields ?? {}).map((field) => [addressOf(endpoint), field]),
	),
	...[
		...Object.keys(mediaFields).map((field) => `input.media[].${field}`),
		...new Set(
			Object.values(referenceVideoModels).flatMap(({ parameters }) =>
				Object.keys(parameters).map((field) => `parameters.${field}`),
			),
		),
	].map((field) => [addressOf(endpoints.referenceVideoCreate), field]),
];

it.each(documented)(
	'an operation on %s has a parameter that sets the field %s',
	(address, field) => {
		const set = fieldRows
			.filter(({ operation }) => addressOf(operation.endpoint) === address)
			.map(({ request }) => request);
		// The fields inside an object set the object.
		expect(set.some((own) => own === field || own.startsWith(`${field}.`))).toBe(true);
	},
);

it('fields whose limits depend on the model have no limits in the editor', () => {
	const ofModels = fieldRows.filter(({ request }) => request.startsWith('parameters.'));
	for (const { property } of ofModels) {
		expect(property.typeOptions).toBeUndefined();
		if (property.type === 'options') expect(property.allowArbitraryValues).toBe(true);
	}
	expect(ofModels).toHaveLength(6);
});
