import { startGateway, type Gateway, type GatewayOptions } from '../../../gateway';
import type { WorkflowJson } from '../../harness/workflow';
import { Editor } from '../../n8n/editor';
import { testedVersion } from '../../n8n/installation';
import type { N8n } from '../../n8n/n8n';
import { Owner, type CredentialReference, type Execution } from '../../n8n/owner';
import { expectNoKeyIn } from '../../n8n/secrets';
import { shared } from './shared';
import { titledVideos } from '../../support/data/samples';
import { standInFor } from '../../support/data/standIn';
import { withCredential } from '../../support/workflows/workflows';

/** The surroundings of a test file: the owner of an n8n, a gateway, and a credential for it. */
export interface Stage {
	readonly owner: Owner;
	readonly gateway: Gateway;
	readonly credential: CredentialReference;
	/** Creates a workflow in n8n, with the credential in each node of this package. */
	create(workflow: WorkflowJson): ReturnType<Owner['createWorkflow']>;
	/** Creates a workflow in the same way, and runs it to its end. */
	run(workflow: WorkflowJson): Promise<Execution>;
	/** A workflow as it is after an import: n8n 2 selects the only credential, in n8n 1 the user does. */
	imported(workflow: WorkflowJson): WorkflowJson;
	/** Opens a browser, which closes with the stage. */
	editor(): Promise<Editor>;
	close(): Promise<void>;
}

interface StageOptions extends GatewayOptions {
	prices?: object;
	/** Whether each video shows what was ordered, which takes seconds of CPU. Otherwise only its title says it. */
	isRendered?: boolean;
}

/** There is only one credential at a time, so that n8n's editor selects it in an imported workflow. */
export async function openStage(
	{ prices, isRendered = false, ...options }: StageOptions = {},
	{ url, folder }: Pick<N8n, 'url' | 'folder'> = shared,
): Promise<Stage> {
	const owner = await Owner.of({ url });
	const gateway = await startGateway({
		...(isRendered ? { jobSeconds: 1 } : titledVideos(1)),
		...options,
	});
	const credential = await owner.createCredential(gateway, {
		...(prices && { advanced: true, prices: JSON.stringify(prices) }),
	});
	const editors: Editor[] = [];
	return {
		owner,
		gateway,
		credential,
		create: async (workflow) => await owner.createWorkflow(withCredential(workflow, credential)),
		run: async (workflow) => await owner.run(withCredential(workflow, credential)),
		imported: (workflow) =>
			testedVersion.startsWith('1.') ? withCredential(workflow, credential) : workflow,
		async editor() {
			const editor = await Editor.open(owner);
			editors.push(editor);
			return editor;
		},
		async close() {
			for (const editor of editors) await editor.close();
			await owner.removeCredentials();
			await gateway.close();
			expectNoKeyIn(folder, gateway.apiKey);
		},
	};
}

/** Opens n8n's editor on this stage for all tests of a file. @returns what stands for it, once they run */
export function withEditor(stage: Stage): Editor {
	let editor: Editor;
	beforeAll(async () => void (editor = await stage.editor()));
	return standInFor(() => editor);
}

/** Opens a stage for all tests of a file. @returns what stands for it, once they run */
export function withStage(options?: StageOptions): Stage {
	let stage: Stage;
	beforeAll(async () => void (stage = await openStage(options)));
	afterAll(async () => await stage.close());
	return standInFor(() => stage);
}
