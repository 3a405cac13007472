import { CredentialTestContext } from 'n8n-core';
import type {
	ICredentialDataDecryptedObject,
	ICredentialTestFunction,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { createAdditionalData } from './environment';
import { nodesWith } from './registry';

/**
 * Tests a credential whose type has no test request, as n8n does when a user saves it (CredentialsTester): with the
 * function that the first of its nodes names in `testedBy`.
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
		// As in n8n, a node without the function fails here.
		const run = methods?.credentialTest?.[testedBy] as ICredentialTestFunction;
		return await run.call(context, { ...credential, type, data });
	}
	return { status: 'Error', message: 'No testing function found for this credential.' };
}
