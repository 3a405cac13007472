import type { IAuthenticateGeneric, Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

export class ModelGatewayApi implements ICredentialType {
	name = 'modelGatewayApi';

	displayName = 'Model Gateway API';

	documentationUrl = 'https://github.com/model-gateway-nodes/n8n-nodes-model-gateway#credential';

	icon: Icon = {
		light: 'file:../nodes/ModelGateway/modelGateway.svg',
		dark: 'file:../nodes/ModelGateway/modelGateway.dark.svg',
	};

	properties: INodeProperties[] = [
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'Created in the console of the service',
		},
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://gateway.example.com',
			description:
				'The address of the service. A /v1 at its end is ignored; write /v1/v1 where the address itself ends in /v1.',
		},
		{
			displayName: 'Backup URL',
			name: 'backupUrl',
			type: 'string',
			default: '',
			placeholder: 'e.g. https://backup.example.com',
			description:
				'A second address of the same service, used when the first cannot be reached. The API key is sent to it, too.',
		},
		{
			displayName: 'Advanced',
			name: 'advanced',
			type: 'boolean',
			default: false,
			description: 'Whether to show and use the settings below',
		},
		{
			displayName: 'Allow Unencrypted HTTP',
			name: 'allowHttp',
			type: 'boolean',
			default: false,
			displayOptions: { show: { advanced: [true] } },
			description:
				'Whether to send the API key to an address that starts with http://, where everybody on the way can read it. This machine is always allowed.',
		},
		{
			displayName: 'Async Header Name',
			name: 'asyncHeaderName',
			type: 'string',
			default: 'X-Gateway-Async',
			displayOptions: { show: { advanced: [true] } },
			description: 'Name of the header that starts a reference video as a task',
		},
		{
			displayName: 'Idempotency Header Name',
			name: 'idempotencyHeaderName',
			type: 'string',
			default: '',
			placeholder: 'e.g. Idempotency-Key',
			displayOptions: { show: { advanced: [true] } },
			description:
				'Name of the header by which your gateway recognizes a repeated order and makes no second video. An order without a response is then sent again by itself. Leave it empty unless your gateway documents such a header, or you may be charged several times.',
		},
		{
			displayName: 'Requests per Second',
			name: 'requestsPerSecond',
			type: 'string',
			default: '',
			placeholder: 'e.g. 5',
			displayOptions: { show: { advanced: [true] } },
			description:
				'Maximum requests per second with this key. 0.5 means one every two seconds. Each n8n process counts its own: divide the limit of your account by the number of workers. Empty: no limit.',
		},
		{
			displayName: 'Requests in Flight',
			name: 'requestsInFlight',
			type: 'string',
			default: '',
			placeholder: 'e.g. 20',
			displayOptions: { show: { advanced: [true] } },
			description:
				'How many requests with this key may wait for a response at the same time. Each n8n process counts its own. Empty: no limit.',
		},
		{
			displayName: 'Prices (JSON)',
			name: 'prices',
			type: 'json',
			default: '',
			displayOptions: { show: { advanced: [true] } },
			hint: 'Example: <code>{"alpha-1.1-r2v": {"per_second": {"720P": 0.1, "1080P": 0.15}}, "vid-3.1": {"per_video": 0.4}}</code>',
			description:
				'What your models cost, by their IDs and in your currency. With prices, outputs and previews have an <code>estimated_cost</code>, and the limits on cost work.',
		},
	];

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: {
			headers: {
				// A key is often pasted with spaces, line breaks, invisible characters, or the scheme in front.
				Authorization:
					'=Bearer {{ $credentials.apiKey.replace(/[^\\x21-\\x7e]+/g, " ").trim().replace(/^Bearer /i, "").replaceAll(" ", "") }}',
			},
		},
	};
}
