import type { IDataObject, INode } from 'n8n-workflow';
import type { Gateway } from '../../gateway';
import type { WorkflowJson } from '../../harness';

type NodeJson = WorkflowJson['nodes'][number];

/** Our nodes, with the settings that most tests want: quick, and sent as the user would. */
export const createReferenceVideo = (
	parameters: IDataObject = {},
	settings: Partial<INode> = {},
): NodeJson => ({
	name: 'Create',
	type: 'n8n-nodes-model-gateway.modelGateway',
	parameters: {
		resource: 'referenceVideo',
		operation: 'create',
		model: byId('beta-2.7-r2v'),
		prompt: '={{ $json.prompt ?? "A walk on the beach" }}',
		mediaInput: 'json',
		mediaJson: '={{ $json.media }}',
		options: { resolution: '720P', duration: 2 },
		...parameters,
	} as INode['parameters'],
	...settings,
});

export const modelGateway = (parameters: IDataObject, settings: Partial<INode> = {}): NodeJson => ({
	name: 'Model Gateway',
	type: 'n8n-nodes-model-gateway.modelGateway',
	parameters: parameters as INode['parameters'],
	...settings,
});

export const waitForVideo = (
	options: IDataObject = {},
	{ parameters = {}, ...settings }: Partial<INode> = {},
): NodeJson => ({
	name: 'Wait',
	type: 'n8n-nodes-model-gateway.modelGatewayWaitForVideo',
	parameters: { options, ...parameters } as INode['parameters'],
	...settings,
});

export const byId = (value: string) => ({ __rl: true, mode: 'id', value });

/** These nodes one after another, behind a manual trigger. */
export function chain(...nodes: NodeJson[]): WorkflowJson {
	const all: NodeJson[] = [{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' }, ...nodes];
	const links = all
		.slice(1)
		.map((node, index) => [
			all[index].name,
			{ main: [[{ node: node.name, type: 'main' as const, index: 0 }]] },
		]);
	return { nodes: all, connections: Object.fromEntries(links) };
}

/** What the user typed into the credential. */
export const credentialFor = (
	gateway: Pick<Gateway, 'url' | 'apiKey'>,
	more: IDataObject = {},
) => ({
	modelGatewayApi: { apiKey: gateway.apiKey, baseUrl: gateway.url, ...more } as Record<
		string,
		string
	>,
});
