import type { INodeProperties } from 'n8n-workflow';
import { operations } from '../../../nodes/ModelGateway/resources';
import { endpoints, type Endpoint } from '../../../nodes/shared/service/protocol/endpoints';
import type { FieldRule } from '../../../nodes/shared/service/protocol/fields';
import type { Operation } from '../../../nodes/shared/n8n/operations/operation';
import type { Field } from '../../../nodes/shared/n8n/parameters/field';
import { placesOf, type Place } from '../data/anyParameter';

/** One parameter of the Model Gateway node that sets a field of a request. */
export interface FieldRow {
	operation: Operation;
	/** The field, for example `input.media[].url`. */
	request: string;
	/** The labels that lead to it in the editor. */
	labels: string[];
	property: INodeProperties;
	/** Its place among the parameters, and the choices that show it. */
	place: Pick<Place, 'path' | 'chosen'>;
	rule?: FieldRule;
}

export const addressOf = ({ method, path }: Endpoint) => `${method} ${path}`;

export const operationName = ({ resource, name }: Operation) => `${resource.name}: ${name}`;

/** Every row, in the order of the endpoints. Requests that only read have no fields. */
export const fieldRows: FieldRow[] = Object.values<Endpoint>(endpoints)
	.filter(({ cost }) => cost !== 'read')
	.flatMap((endpoint) =>
		operations
			.filter((operation) => operation.endpoint === endpoint)
			.flatMap((operation) => [
				...rowsOf(operation, operation.fields, { path: [], labels: [] }),
				...rowsOf(operation, operation.options ?? [], { path: ['options'], labels: ['Options'] }),
			]),
	);

interface Surroundings {
	path: string[];
	labels: string[];
}

function rowsOf(
	operation: Operation,
	fields: readonly Field[],
	{ path, labels }: Surroundings,
): FieldRow[] {
	return fields.flatMap(({ property, request, rule, entry }): FieldRow[] => {
		const own = [...labels, property.displayName];
		const inner = entry && {
			path: [...path, property.name, 'values', '0'],
			labels: own,
		};
		const [place] = placesOf([{ ...property, type: 'string', noDataExpression: false }], path);
		return [
			...(request === undefined
				? []
				: [
						{
							operation,
							request,
							property,
							place,
							labels: own,
							rule: rule ?? operation.endpoint.fields?.[request],
						},
					]),
			...(entry && inner ? rowsOf(operation, entry.fields, inner) : []),
		];
	});
}
