import { CredentialTestContext } from 'n8n-core';
import type {
	ICredentialDataDecryptedObject,
	ICredentialTestFunction,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { createAdditionalData } from './environment';
import { nodesWith } from './registry';

/**
 * What n8n does when a user saves a credential whose type has no test request of its own (CredentialsTester): the
 * function tests it that the first of its nodes names in `testedBy`.
 */
export async function testCredential(
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
	return { status: 'Error', message: 'No testing function found for this credential.' };
}
