import path from 'node:path';
import { startGateway, type Gateway, type GatewayOptions } from '../../gateway';
import { withFolder } from '../folder';
import { packInto } from '../../test/support/files/packed';
import { startN8n, type N8n } from '../../test/n8n/n8n';
import { Owner } from '../../test/n8n/owner';

/** A complete n8n with the package, and its owner. It can be stopped, and started again with its stored data. */
export class Instance {
	private constructor(
		private n8n: N8n,
		public owner: Owner,
		private readonly env?: Record<string, string>,
	) {}

	/**
	 * @param folder where n8n keeps everything
	 * @param tarball what users install; by default the package as it was last built, packed into the folder
	 */
	static async open(
		folder: string,
		{
			tarball = packInto(folder).tarball,
			env,
		}: { tarball?: string; env?: Record<string, string> } = {},
	): Promise<Instance> {
		const n8n = await startN8n({ folder, tarball, env });
		return new Instance(n8n, await Owner.of(n8n), env);
	}

	/** Opens one together with a gateway, and stops and removes both after use. */
	static async withGateway<Result>(
		options: GatewayOptions,
		use: (instance: Instance, gateway: Gateway) => Promise<Result>,
	): Promise<Result> {
		const gateway = await startGateway(options);
		try {
			return await withFolder('n8n', async (folder) => {
				const instance = await Instance.open(folder);
				try {
					return await use(instance, gateway);
				} finally {
					await instance.end('SIGKILL');
				}
			});
		} finally {
			await gateway.close();
		}
	}

	get url(): string {
		return this.n8n.url;
	}

	get folder(): string {
		return this.n8n.folder;
	}

	/** The file of all that n8n has printed. */
	get logFile(): string {
		return this.n8n.logFile;
	}

	get pid(): number {
		return this.n8n.process.pid;
	}

	/** The file in which it keeps the bytes of a binary field. */
	fileOf(binaryId: string): string {
		return path.join(this.folder, '.n8n/storage', binaryId.replace(/^filesystem-v2:/, ''));
	}

	async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
		await this.n8n.process.end(signal);
	}

	/** Starts it again, at the same address. @param version of n8n, by default the one of this run */
	async start(version?: string): Promise<void> {
		const { folder, url } = this.n8n;
		this.n8n = await startN8n({ version, folder, port: Number(new URL(url).port), env: this.env });
		this.owner = await Owner.of(this.n8n);
	}
}
