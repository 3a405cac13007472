import { ExecuteContext, RoutingNode } from 'n8n-core';
import {
	createEmptyRunExecutionData,
	Workflow,
	type ICredentialDataDecryptedObject,
	type ICredentialsDecrypted,
	type ICredentialTestRequest,
	type INode,
	type INodeCredentialTestResult,
	type INodeExecutionData,
	type INodeType,
} from 'n8n-workflow';

import { createAdditionalData } from './environment';
import { credentialType, nodeTypes } from './registry';

const failed = (message: string): INodeCredentialTestResult => ({ status: 'Error', message });

/**
 * What n8n does when a user saves a credential (CredentialsTester): the credential's `test` request is
 * sent by a node made for it, and its rules judge the answer.
 */
export async function testCredential(
	type: string,
	values: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	const { test } = credentialType(type);
	if (!test) return failed('No testing function found for this credential.');
	try {
		return judgeAnswer(test, await sendTest(type, values, test));
	} catch (cause) {
		return judgeFailure(test, cause as TestFailure);
	}
}

async function sendTest(
	type: string,
	values: ICredentialDataDecryptedObject,
	test: ICredentialTestRequest,
): Promise<INodeExecutionData> {
	const testNode = nodeSending(type, test);
	const credential = { id: type, name: type };
	const node: INode = {
		id: 'temp',
		name: 'Temp-Node',
		type: testNode.description.name,
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
		credentials: { [type]: credential },
	};
	const workflow = new Workflow({
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes: {
			getByName: () => testNode,
			getByNameAndVersion: () => testNode,
			getKnownTypes: () => ({}),
		},
	});
	const additionalData = {
		...createAdditionalData({ credentials: { [type]: values } }),
		currentNodeParameters: node.parameters,
	};
	const data = await additionalData.credentialsHelper.getDecrypted(
		additionalData,
		credential,
		type,
		'internal',
	);
	const context = new ExecuteContext(
		workflow,
		node,
		additionalData,
		'internal',
		createEmptyRunExecutionData(),
		0,
		[],
		{ main: [[{ json: {} }]] },
		{ node, data: {}, source: null },
		[],
	);
	const decrypted: ICredentialsDecrypted = { ...credential, type, data };
	const request = new RoutingNode(context, testNode, decrypted);
	const output = await workflow.expression.withIsolate(async () => await request.runNode());
	return output?.[0]?.[0] ?? { json: {} };
}

/** A No Operation node that sends the request instead. */
function nodeSending(type: string, { request }: ICredentialTestRequest): INodeType {
	const { description } = nodeTypes.getByNameAndVersion('n8n-nodes-base.noOp');
	return {
		description: {
			...description,
			credentials: [{ name: type, required: true }],
			properties: [
				{ displayName: 'Temp', name: 'temp', type: 'string', default: '', routing: { request } },
			],
		},
	};
}

function judgeAnswer(
	{ rules = [] }: ICredentialTestRequest,
	answer: INodeExecutionData,
): INodeCredentialTestResult {
	for (const { type, properties } of rules) {
		if (type !== 'responseSuccessBody') continue;
		if (answer.json[properties.key] === properties.value) return failed(properties.message);
	}
	return { status: 'OK', message: 'Connection successful!' };
}

/** The error of a node, whose cause is that of the HTTP request. */
interface TestFailure extends Error {
	cause?: { code?: string; response?: { status: number; statusText: string } };
}

function judgeFailure(
	{ rules = [] }: ICredentialTestRequest,
	{ cause, message }: TestFailure,
): INodeCredentialTestResult {
	if (!cause?.response) return failed(cause?.code ?? message);
	const { status, statusText } = cause.response;
	for (const { type, properties } of rules) {
		if (type === 'responseCode' && properties.value === status) return failed(properties.message);
	}
	return failed(statusText || `Received HTTP status code: ${status}`);
}
