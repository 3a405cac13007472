import path from 'node:path';
import type { N8n } from './n8n';

/** How jest's setup, which has started the n8n, tells the test files where it is. */
export const shared = {
	/** In the process of the setup only. */
	running: undefined as N8n | undefined,

	publish(n8n: N8n): void {
		this.running = n8n;
		process.env.E2E_N8N_URL = n8n.url;
		process.env.E2E_N8N_FOLDER = n8n.folder;
	},

	get url(): string {
		return process.env.E2E_N8N_URL ?? '';
	},

	/** Where n8n keeps everything. */
	get folder(): string {
		return process.env.E2E_N8N_FOLDER ?? '';
	},

	/** Where nodes may write files, as n8n's own default has it. */
	get filesFolder(): string {
		return path.join(this.folder, '.n8n-files');
	},
};
