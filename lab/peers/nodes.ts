import type { INodeParameters } from 'n8n-workflow';
import { core, type Node } from '../../test/support/workflows/workflows';
import type { CredentialReference } from '../../test/n8n/owner';
import type { GatewayName } from './service';
import type { Setup } from './work';
import { resultName } from './measure';

/** The last node of every way, whose output is checked. */
export const result = core(resultName, 'noOp');

/** The credentials for one gateway, of this package and of the nodes that it is compared with. */
export async function credentialsFor(
	{ instance: { owner }, service }: Setup,
	gateway: GatewayName,
) {
	const { url, backupUrl, apiKey } = service.gateways[gateway];
	const header = { name: 'Authorization', value: `Bearer ${apiKey}` };
	return {
		/** Settings of a node of this package. */
		ours: {
			credentials: {
				modelGatewayApi: await owner.createCredential({ url, backupUrl, apiKey }),
			},
		},
		openAi: await owner.createCredentialOf('openAiApi', { apiKey, url: `${url}/v1` }),
		header: await owner.createCredentialOf('httpHeaderAuth', header),
	};
}

/** n8n's HTTP Request node, optionally with a credential that sets a header. */
export const httpRequest = (
	name: string,
	parameters: INodeParameters,
	httpHeaderAuth?: CredentialReference,
): Node => ({
	...core(
		name,
		'httpRequest',
		{
			...(httpHeaderAuth && {
				authentication: 'genericCredentialType',
				genericAuthType: 'httpHeaderAuth',
			}),
			...parameters,
		},
		4.4,
	),
	...(httpHeaderAuth && { credentials: { httpHeaderAuth } }),
});

/** Parameters that send a JSON body, which is given as an expression. */
export const post = (url: string, jsonBody: string): INodeParameters => ({
	method: 'POST',
	url,
	sendBody: true,
	specifyBody: 'json',
	jsonBody,
});

export const asFile: INodeParameters = {
	options: { response: { response: { responseFormat: 'file' } } },
};
