import { SecurityConfig } from '@n8n/config';
import { Container } from '@n8n/di';
import { ExternalSecretsProxy } from 'n8n-core';
import type { IWorkflowExecuteAdditionalData } from 'n8n-workflow';
import { realpathSync } from 'node:fs';

import { useBinaryDataMode, type BinaryDataMode } from './binary';
import { CredentialsHelper, type CredentialValues } from './credentials';

/** The services of an n8n instance for its executions. A Retry gets the same as the first execution. */
export interface Environment {
	/** Values by credential type, as a user types them. A node without a credential gets one. */
	credentials?: CredentialValues;
	/** Binary data in files (the default), or in memory. Shared by executions that run at the same time. */
	binaryDataMode?: BinaryDataMode;
	/** The folder that nodes may read and write (N8N_RESTRICT_FILE_ACCESS_TO). */
	filesFolder?: string;
	/** The address in links to n8n itself, such as those of `createBinarySignedUrl`. */
	restApiUrl?: string;
	/** Whether a worker of queue mode runs the execution. It does not send to the editor. */
	inWorker?: boolean;
}

/** Applies the settings that n8n has for the whole process. */
export async function applyEnvironment({ binaryDataMode, filesFolder }: Environment) {
	await useBinaryDataMode(binaryDataMode ?? 'filesystem');
	if (filesFolder) {
		Container.get(SecurityConfig).restrictFileAccessTo = realpathSync(filesFolder);
	}
}

/** The additional data that n8n passes to every execution and every call of the editor. */
export function createAdditionalData({
	credentials = {},
	restApiUrl = 'http://localhost:5678/rest',
	inWorker = false,
}: Environment): IWorkflowExecuteAdditionalData {
	// The engine parses these addresses for every parameter that it resolves, so none may be empty.
	const instanceBaseUrl = new URL('.', restApiUrl).href;
	return {
		credentialsHelper: new CredentialsHelper(credentials),
		externalSecretsProxy: Container.get(ExternalSecretsProxy),
		currentNodeExecutionIndex: 0,
		variables: {},
		restApiUrl,
		instanceBaseUrl,
		formBaseUrl: `${instanceBaseUrl}form`,
		formWaitingBaseUrl: `${instanceBaseUrl}form-waiting`,
		formTestBaseUrl: `${instanceBaseUrl}form-test`,
		webhookBaseUrl: `${instanceBaseUrl}webhook`,
		webhookWaitingBaseUrl: `${instanceBaseUrl}webhook-waiting`,
		webhookTestBaseUrl: `${instanceBaseUrl}webhook-test`,
		mcpBaseUrl: `${instanceBaseUrl}mcp`,
		mcpTestBaseUrl: `${instanceBaseUrl}mcp-test`,
		logAiEvent() {},
		setExecutionStatus() {},
		...(!inWorker && { sendDataToUI() {} }),
		getRunExecutionData: async () => undefined,
		getRuntimeCredential: async () => undefined,
		executeWorkflow: notAvailable('Sub-workflows'),
		startRunnerTask: notAvailable('Code nodes'),
	};
}

function notAvailable(what: string) {
	return async (): Promise<never> => {
		throw new Error(`${what} need a complete n8n: the harness runs only the engine`);
	};
}
