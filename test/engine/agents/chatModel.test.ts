import type { IDataObject, INode, ISupplyDataFunctions } from 'n8n-workflow';
import { properties, settingsOf } from '../../../nodes/LmChatModelGateway/settings';
import { registerTypes } from '../../harness';
import { withGateway } from '../../support/http/withGateway';
import { testNode } from '../../support/workflows/testNode';
import { byId, chain, chatModel, withSubNodes } from '../../support/workflows/workflows';

/** Requests a chat model, as a chain does, and does nothing with it. */
const root = testNode('root', { inputs: ['main', 'ai_languageModel'] }, async function () {
	await this.getInputConnectionData('ai_languageModel', 0);
	return [[{ json: {} }]];
});

/** Outputs the settings that it reads from the chat model's parameters. */
const reader = testNode('reader', { properties }, async function () {
	// `settingsOf` reads only parameters, which both contexts have. All settings are JSON.
	const settings = settingsOf(this as unknown as ISupplyDataFunctions, 0);
	return [[{ json: { ...settings } as unknown as IDataObject }]];
});

// The test engine has no @n8n/ai-node-sdk, like an older n8n.
describe('the chat model in an n8n without the SDK', () => {
	const { gateway, runWorkflow } = withGateway({});
	beforeAll(() => registerTypes({ nodes: [root, reader] }));

	const run = async (parameters: IDataObject) => {
		const model = chatModel({ model: byId('chat-1'), ...parameters });
		const workflow = chain({ name: 'Root', type: 'test.root' });
		return await runWorkflow(withSubNodes(workflow, ['ai_languageModel', model]));
	};

	it.each<[string, IDataObject, IDataObject]>([
		['stop sequences and drops empty ones', { stop: ['END', ''] }, { stop: 'END' }],
		[
			'a JSON schema without a name',
			{ responseFormat: 'json_schema', jsonSchema: '{ "type": "object" }' },
			{
				response_format: {
					type: 'json_schema',
					json_schema: { name: 'answer', schema: { type: 'object' } },
				},
			},
		],
		[
			'a response format merged from the options and Extra Body',
			{
				responseFormat: 'json_schema',
				jsonSchema: { type: 'object' },
				extraBody: { response_format: { json_schema: { strict: true } } },
			},
			{
				response_format: {
					type: 'json_schema',
					json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
				},
			},
		],
		[
			'a JSON schema given only in Extra Body',
			{
				responseFormat: 'json_schema',
				extraBody: { response_format: { json_schema: { name: 'mail', schema: {} } } },
			},
			{ response_format: { type: 'json_schema', json_schema: { name: 'mail', schema: {} } } },
		],
	])('accepts %s', async (_, options, fields) => {
		const parameters = { model: byId('chat-1'), options } as INode['parameters'];
		const node = { name: 'Reader', type: 'test.reader', parameters };
		const result = await runWorkflow(chain(node));
		expect(result.items('Reader')[0].json).toEqual({ model: 'chat-1', fields });
	});

	it('requires a JSON schema for the response format json_schema', async () => {
		const error = (await run({ options: { responseFormat: 'json_schema' } })).errorOf('Root');
		expect(error?.message).toBe('JSON Schema is missing: add it under Options');
	});

	it('names all invalid options at once, and sends nothing', async () => {
		const options = { temperature: 7, maxRetries: -1, responseFormat: 'xml', timeout: 0 };
		const error = (await run({ model: byId(''), options })).errorOf('Root');
		expect(error?.message).toBe(
			[
				'Model is empty',
				'Response Format must be one of text, json_object, json_schema (it is "xml")',
				'Temperature must be a number from 0 to 2 (it is 7)',
				'Request Timeout (Seconds) must be a number of at least 1 (it is 0)',
				'Max Retries must be a whole number from 0 to 20 (it is -1)',
			].join('; '),
		);
		expect(error).toMatchObject({
			functionality: 'configuration-node',
			node: { name: 'Chat Model' },
		});
		expect(gateway.requests).toEqual([]);
	});

	it('asks the user to update n8n when a chain uses the chat model without the SDK', async () => {
		const error = (await run({})).errorOf('Root');
		expect(error?.message).toBe('This version of n8n cannot use chat models of community nodes');
		expect(error?.description).toContain('Update n8n: it has to provide @n8n/ai-node-sdk');
	});
});
