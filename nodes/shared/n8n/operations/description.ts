import type { INodeProperties, NodeHint } from 'n8n-workflow';
import { extraBodyOption } from '../parameters/extraBody';
import { ifModelRefusesOption, mayHaveOtherModels } from '../parameters/otherModels';
import { orderOptionsOf, previewField } from '../parameters/orderOptions';
import {
	includeInputFieldsOption,
	optionsProperty,
	parallelRequestsOption,
	skipChecksOption,
	timeoutOptionOf,
} from '../parameters/options';
import type { Cost } from '../../service/protocol/endpoints';
import { filledInByModel, toolDescription, toolNotice } from '../parameters/editor';
import type { Operation } from './operation';

/** The line below the node on the canvas, with the labels of the menus: "Create: Video". */
export function subtitleOf(operations: Operation[]): string {
	const words = operations.map(({ resource, name, value }) => [
		`${value}: ${resource.value}`,
		`${name}: ${resource.name}`,
	]);
	const chosen = '$parameter["operation"] + ": " + $parameter["resource"]';
	return `={{ (${JSON.stringify(Object.fromEntries(words))})[${chosen}] }}`;
}

/** For an operation that orders something: only that has a preview. */
export const orderHint: NodeHint = {
	message:
		'Each <b>Execute step</b> here is a charged order, and so is a later node’s after a change here. Pinned output (<b>P</b>) prevents it. <b>Preview</b> is free.',
	displayCondition: '={{ $parameter.preview === false }}',
	whenToDisplay: 'always',
	location: 'outputPane',
};

export function nodeProperties(operations: Operation[]): INodeProperties[] {
	const resources = new Map(operations.map(({ resource }) => [resource.value, resource]));
	const first = operations[0].resource.value;
	return [
		{
			displayName: 'Resource',
			name: 'resource',
			type: 'options',
			noDataExpression: true,
			options: [...resources.values()],
			default: first,
		},
		...[...resources.keys()].map((resource) => operationMenu(resource, operations)),
		...operations.flatMap(fieldsOf),
	];
}

function operationMenu(resource: string, all: Operation[]): INodeProperties {
	const operations = all.filter((operation) => operation.resource.value === resource);
	const first = operations[0].value;
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [resource] } },
		options: operations
			.map(({ name, value, action, description }) => ({ name, value, action, description }))
			.sort((one, other) => one.name.localeCompare(other.name)),
		default: first,
	};
}

function fieldsOf({
	resource,
	value,
	action,
	endpoint,
	isOrder,
	fields,
	options = [],
	batch,
}: Operation): INodeProperties[] {
	const show = { resource: [resource.value], operation: [value] };
	const shown = (field: INodeProperties): INodeProperties => ({
		...field,
		displayOptions: { ...field.displayOptions, show: { ...show, ...field.displayOptions?.show } },
	});
	const ofOrder = isOrder ? orderOptionsOf(endpoint) : [];
	const ofModel = mayHaveOtherModels({ endpoint, batch }) ? [ifModelRefusesOption] : [];
	const ofPaid = endpoint.cost === 'read' ? [] : [extraBodyOption, skipChecksOption];
	const ofAll = [includeInputFieldsOption, parallelRequestsOption, timeoutOptionOf(endpoint)];
	return [
		toolDescription(`${action}. ${costs[endpoint.cost]}`),
		...(endpoint.cost === 'read' ? [] : [isOrder ? orderNotice : paidNotice]),
		...[...fields, ...(isOrder ? [previewField] : [])].flatMap(({ property, isFilledInByModel }) =>
			isFilledInByModel ? filledInByModel(property) : property,
		),
		optionsProperty([...options, ...ofOrder, ...ofModel, ...ofPaid, ...ofAll]),
	].map(shown);
}

/** Tells the model of an agent about costs before it calls an operation. */
const costs: Record<Cost, string> = {
	read: 'Costs nothing.',
	generation: 'Each call costs money.',
	job: 'Starts to make a video and gives its job ID; Wait for Video gives the link. Each call costs money.',
};

const paidNotice = toolNotice(
	'<b>Let the agent fill in</b> fields with the button beside them. Each call costs money.',
);

const orderNotice = toolNotice(
	'<b>The agent fills in Prompt.</b> Each call costs money, and so does <b>Execute step</b>. Without <b>Limits</b>: 3 orders per execution; over MCP, each call is one.',
);
