import { startGateway, type Gateway, type GatewayOptions } from '../../gateway';
import type { WorkflowJson } from '../../harness/workflow';
import { Editor } from './editor';
import { withCredential } from './examples';
import { testedVersion } from './installation';
import type { N8n } from './n8n';
import { Owner, type CredentialReference } from './owner';
import { expectNoKeyIn } from './secrets';
import { shared } from './shared';

/** What a test file works with: n8n's owner, a gateway beside it, and a credential for that. */
export interface Stage {
	readonly owner: Owner;
	readonly gateway: Gateway;
	readonly credential: CredentialReference;
	/** A workflow as its user has it after an import: n8n 2 chooses the only credential, n8n 1 lets the user do so. */
	imported(workflow: WorkflowJson): WorkflowJson;
	/** Opens a browser, which closes with the stage. */
	editor(): Promise<Editor>;
	close(): Promise<void>;
}

/** Only one credential is there at a time: n8n's editor then puts it into what is imported. */
export async function openStage(
	options: GatewayOptions = {},
	{ url, folder }: Pick<N8n, 'url' | 'folder'> = shared,
): Promise<Stage> {
	const owner = await Owner.of({ url });
	const gateway = await startGateway({ jobSeconds: 1, ...options });
	const credential = await owner.createCredential(gateway);
	const editors: Editor[] = [];
	return {
		owner,
		gateway,
		credential,
		imported: (workflow) =>
			testedVersion.startsWith('1.') ? withCredential(workflow, credential) : workflow,
		async editor() {
			const editor = await Editor.open(owner);
			editors.push(editor);
			return editor;
		},
		async close() {
			for (const editor of editors) await editor.close();
			await owner.request('DELETE', `/credentials/${credential.id}`);
			await gateway.close();
			expectNoKeyIn(folder, gateway.apiKey);
		},
	};
}
