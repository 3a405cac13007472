import type { Media } from '../../../nodes/shared/service/jobs/referenceVideo';
import { endpoints, type Endpoint } from '../../../nodes/shared/service/protocol/endpoints';
import { referenceVideoModels } from '../../../nodes/shared/service/protocol/models';
import { addressOf, fieldRows } from '../../support/pages/fieldRows';

/** The fields of a media item. The endpoint has no table of them; the compiler checks that this one is complete. */
const mediaFields = { type: true, url: true, reference_voice: true } satisfies Record<
	keyof Media,
	true
>;

/** Every field that the service documents, with its endpoint. */
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

describe('the fields of requests', () => {
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
});
