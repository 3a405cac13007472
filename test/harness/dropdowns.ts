import { LoadOptionsContext } from 'n8n-core';
import type {
	INodeListSearchResult,
	INodeParameters,
	INodePropertyOptions,
	INodeType,
} from 'n8n-workflow';

import { createAdditionalData, type Environment } from './environment';
import { defaultVersion, nodeTypes } from './registry';
import { completeWorkflow, createWorkflow } from './workflow';

interface DropdownOptions extends Environment {
	/** What the user has filled in on the node so far. */
	parameters?: INodeParameters;
	/** Default: that of a new node. */
	typeVersion?: number;
	/** The parameter that the dropdown belongs to: relative parameter names start there. */
	path?: string;
}

interface ListSearchOptions extends DropdownOptions {
	/** What the user typed into the search box. */
	filter?: string;
	paginationToken?: string;
}

/** Opens a resource locator's list, as n8n's editor does. */
export async function listSearch(
	nodeType: string,
	method: string,
	{ filter, paginationToken, ...options }: ListSearchOptions = {},
): Promise<INodeListSearchResult> {
	return await callFromEditor(nodeType, options, async (methods, context) => {
		const search = methods?.listSearch?.[method];
		if (!search) throw new Error(`${nodeType} has no listSearch method "${method}"`);
		return await search.call(context, filter, paginationToken);
	});
}

/** Opens a dropdown whose options a node loads, as n8n's editor does. */
export async function loadOptions(
	nodeType: string,
	method: string,
	options: DropdownOptions = {},
): Promise<INodePropertyOptions[]> {
	return await callFromEditor(nodeType, options, async (methods, context) => {
		const load = methods?.loadOptions?.[method];
		if (!load) throw new Error(`${nodeType} has no loadOptions method "${method}"`);
		return await load.call(context);
	});
}

async function callFromEditor<Result>(
	type: string,
	options: DropdownOptions,
	call: (methods: INodeType['methods'], context: LoadOptionsContext) => Promise<Result>,
): Promise<Result> {
	const { parameters = {}, typeVersion = defaultVersion(type), path = '' } = options;
	const name = 'Temp-Node';
	const json = { nodes: [{ name, type, typeVersion, parameters }] };
	const workflow = createWorkflow(completeWorkflow(json, Object.keys(options.credentials ?? {})));
	const additionalData = {
		...createAdditionalData(options),
		currentNodeParameters: parameters,
	};
	const context = new LoadOptionsContext(workflow, workflow.nodes[name], additionalData, path);
	const { methods } = nodeTypes.getByNameAndVersion(type, typeVersion);
	return await workflow.expression.withIsolate(async () => await call(methods, context));
}
