import { LoadOptionsContext } from 'n8n-core';
import type { INodeListSearchResult, INodeParameters } from 'n8n-workflow';

import { createAdditionalData, type Environment } from './environment';
import { defaultVersion, nodeTypes } from './registry';
import { completeWorkflow, createWorkflow } from './workflow';

interface ListSearchOptions extends Environment {
	/** The parameters that the user has filled in so far. */
	parameters?: INodeParameters;
	/** The text that the user typed into the search box. */
	filter?: string;
}

/** Opens a resource locator's list, as n8n's editor does. */
export async function listSearch(
	type: string,
	method: string,
	{ filter, parameters = {}, ...environment }: ListSearchOptions = {},
): Promise<INodeListSearchResult> {
	const typeVersion = defaultVersion(type);
	const search = nodeTypes.getByNameAndVersion(type, typeVersion).methods?.listSearch?.[method];
	if (!search) throw new Error(`${type} has no listSearch method "${method}"`);
	const name = 'Temp-Node';
	const json = { nodes: [{ name, type, typeVersion, parameters }] };
	const workflow = createWorkflow(
		completeWorkflow(json, Object.keys(environment.credentials ?? {})),
	);
	const additionalData = {
		...createAdditionalData(environment),
		currentNodeParameters: parameters,
	};
	const context = new LoadOptionsContext(workflow, workflow.nodes[name], additionalData, '');
	return await workflow.expression.withIsolate(async () => await search.call(context, filter));
}
