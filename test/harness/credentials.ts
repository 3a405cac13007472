import {
	ICredentialsHelper,
	isExpression,
	NodeHelpers,
	type ICredentialDataDecryptedObject,
	type ICredentials,
	type IHttpRequestOptions,
	type INode,
	type INodeCredentialsDetails,
	type INodeParameters,
	type IRequestOptionsSimplified,
	type IWorkflowExecuteAdditionalData,
	type Workflow,
} from 'n8n-workflow';

import { currentProcess } from './process';
import { credentialType } from './registry';

export type CredentialValues = Record<string, ICredentialDataDecryptedObject>;

/**
 * Replaces n8n's store of encrypted credentials: it finds values by credential type, whatever credential a node names.
 * Everything else follows n8n's own CredentialsHelper.
 */
export class CredentialsHelper extends ICredentialsHelper {
	constructor(private readonly values: CredentialValues) {
		super();
	}

	/** Fills in the defaults and drops the fields that the user's choices hide, as n8n does. */
	override async getDecrypted(
		_additionalData: IWorkflowExecuteAdditionalData,
		_nodeCredentials: INodeCredentialsDetails,
		type: string,
	): Promise<ICredentialDataDecryptedObject> {
		const values = this.values[type];
		if (!values) throw new Error(`The harness was given no values for the credential "${type}"`);
		const properties = this.getCredentialsProperties(type);
		const given = values as INodeParameters;
		const complete = NodeHelpers.getNodeParameters(properties, given, true, false, null, null);
		return complete as ICredentialDataDecryptedObject;
	}

	override async authenticate(
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		requestOptions: IHttpRequestOptions | IRequestOptionsSimplified,
		workflow: Workflow,
		node: INode,
	): Promise<IHttpRequestOptions> {
		// Every request with a credential passes here. None leaves a killed process.
		if (currentProcess()?.isKilled) await new Promise(() => {});
		const request = requestOptions as IHttpRequestOptions;
		const { authenticate } = credentialType(typeName);
		if (!authenticate) return request;
		if (typeof authenticate === 'function') return await authenticate(credentials, request);

		const { expression } = workflow;
		const keys = { $credentials: credentials };
		const resolve = (value: unknown) => {
			if (!isExpression(value)) return value;
			const result = expression.getSimpleParameterValue(
				node,
				value,
				'internal',
				keys,
				undefined,
				'',
			);
			return result ? String(result) : '';
		};
		// n8n changes the request itself, which matters to a node that uses its request twice.
		request.headers ??= {};
		// n8n addresses the headers, the query and the body by name.
		const parts = request as unknown as Record<string, Record<string, unknown>>;
		for (const [part, entries] of Object.entries(authenticate.properties)) {
			for (const [key, value] of Object.entries(entries)) {
				parts[part] ??= {};
				parts[part][String(resolve(key))] = resolve(value);
			}
		}
		return request;
	}

	override getCredentialsProperties(type: string) {
		return credentialType(type).properties;
	}

	override getParentTypes(name: string) {
		return credentialType(name).extends ?? [];
	}

	override isCredentialUsableByNode() {
		return true;
	}

	// Credentials that fetch and store their own token are not supported.

	override async preAuthentication() {
		return undefined;
	}

	override async runPreAuthentication() {
		return undefined;
	}

	override async getCredentials(): Promise<ICredentials> {
		throw new Error('The harness stores no credentials');
	}

	override async updateCredentials() {}

	override async updateCredentialsOauthTokenData() {}
}
