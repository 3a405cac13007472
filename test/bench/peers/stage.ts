import path from 'node:path';
import { startN8n, type N8n } from '../../e2e/support/n8n';
import { Owner } from '../../e2e/support/owner';
import type { Service } from './service';

/** A complete n8n with the package, and its owner. */
export class Stage {
	private constructor(
		readonly service: Service,
		public n8n: N8n,
		public owner: Owner,
	) {}

	/** @param name of its folder, which is made */
	static async open(service: Service, tarball: string, folder: string): Promise<Stage> {
		const n8n = await startN8n({ folder, tarball, env });
		return new Stage(service, n8n, await Owner.of(n8n));
	}

	/** Starts it anew, with all that it has stored: the memory of one work is not to be reused by the next. */
	async restart(): Promise<void> {
		await this.n8n.stop();
		this.n8n = await startN8n({ folder: this.n8n.folder, env });
		this.owner = await Owner.of(this.n8n);
	}

	/** Where n8n keeps the bytes of a binary field. */
	fileOf(binaryId: string): string {
		return path.join(this.n8n.folder, '.n8n/storage', binaryId.replace(/^filesystem-v2:/, ''));
	}

	async close(): Promise<void> {
		await this.n8n.stop();
	}
}

const env = { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' };
