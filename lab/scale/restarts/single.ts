import { startGateway, type Gateway } from '../../../gateway';
import { Instance } from '../../n8n/instance';
import type { CredentialReference } from '../../../test/n8n/owner';
import { withFolder } from '../../folder';
import { startSink, type Sink } from '../../../test/n8n/sink';
import { timedVideos } from './trial';

/** One process of n8n with SQLite and default settings, and the same services as a deployment. */
interface Single {
	instance: Instance;
	gateway: Gateway;
	sink: Sink;
	/** The needs of the workflows. */
	environment: { credential: CredentialReference; sinkUrl: string };
}

/** Opens one, and closes it after use, even after a failure. */
export async function withSingle<Result>(
	use: (single: Single) => Promise<Result>,
): Promise<Result> {
	const gateway = await startGateway(timedVideos());
	const sink = await startSink();
	try {
		return await withFolder('n8n-single', async (folder) => {
			const instance = await Instance.open(folder);
			try {
				const credential = await instance.owner.createCredential(gateway);
				return await use({
					instance,
					gateway,
					sink,
					environment: { credential, sinkUrl: sink.url },
				});
			} finally {
				await instance.end('SIGKILL');
			}
		});
	} finally {
		await sink.close();
		await gateway.close();
	}
}
