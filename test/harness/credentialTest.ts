import { CredentialTestContext, ExecuteContext, RoutingNode } from 'n8n-core';
import {
	createEmptyRunExecutionData,
	Workflow,
	type ICredentialDataDecryptedObject,
	type ICredentialsDecrypted,
	type ICredentialTestFunction,
	type ICredentialTestRequest,
	type INode,
	type INodeCredentialTestResult,
	type INodeExecutionData,
	type INodeType,
} from 'n8n-workflow';

import { createAdditionalData } from './environment';
import { credentialType, nodesWith, nodeTypes } from './registry';

const failed = (message: string): INodeCredentialTestResult => ({ status: 'Error', message });

/**
 * What n8n does when a user saves a credential (CredentialsTester): the credential's `test` request is
 * sent by a node made for it, and its rules judge the answer. A type without one is tested by the function that the
 * first of its nodes names in `testedBy`.
 */
export async function testCredential(
	type: string,
	values: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	const { test } = credentialType(type);
	if (!test) return await testByNode(type, values);
	try {
		return judgeAnswer(test, await sendTest(type, values, test));
	} catch (cause) {
		return judgeFailure(test, cause as TestFailure);
	}
}

async function testByNode(
	type: string,
	values: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	for (const { description, methods } of nodesWith(type)) {
		const { testedBy } = description.credentials?.find(({ name }) => name === type) ?? {};
		if (typeof testedBy !== 'string') continue;
		const additionalData = createAdditionalData({ credentials: { [type]: values } });
		const credential = { id: type, name: type };
		const { credentialsHelper } = additionalData;
		const data = await credentialsHelper.getDecrypted(additionalData, credential, type, 'internal');
		const context = new CredentialTestContext(additionalData);
		// As in n8n, where a node that lacks the function would break here.
		const run = methods?.credentialTest?.[testedBy] as ICredentialTestFunction;
		return await run.call(context, { ...credential, type, data });
	}
	return failed('No testing function found for this credential.');
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
