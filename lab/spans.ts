import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startGateway } from '../gateway';
import { withFolder } from './folder';
import { within } from '../test/support/time/until';
import { createVideo, startedByWebhook, withCredential } from '../test/support/workflows/workflows';
import { callWebhook, isUnderWay } from '../test/n8n/owner';
import { Instance } from './n8n/instance';
import { atLeast, none, type Figure } from './report';

/** Texts that must be in no span. */
const secret = 'a secret otter';

/** Places orders in an n8n that sends its spans to a collector, which keeps them as they arrive. */
export async function measureSpans({ orders }: { orders: number }): Promise<Figure[]> {
	const received: Buffer[] = [];
	const collector = createServer((request, response) => {
		request.on('data', (chunk: Buffer) => void received.push(chunk));
		request.once('end', () => response.writeHead(200).end());
	});
	collector.listen(0, '127.0.0.1');
	await once(collector, 'listening');
	const { port } = collector.address() as AddressInfo;
	const gateway = await startGateway({ jobSeconds: Infinity });
	try {
		return await withFolder('n8n', async (folder) => {
			const env = {
				N8N_OTEL_ENABLED: 'true',
				N8N_OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
			};
			const instance = await Instance.open(folder, { env });
			try {
				const { owner, url } = instance;
				const credential = await owner.createCredential(gateway);
				const create = createVideo({ prompt: `=${secret} {{ $json.query.name }}` });
				const workflow = { ...startedByWebhook({ path: 'span' }, create), name: 'Spans' };
				const published = await owner.createPublished(withCredential(workflow, credential));
				for (let order = 0; order < orders; order++)
					await callWebhook(url, 'span', { name: String(order) });
				await within(async () => gateway.jobs.list().length >= orders, 60);
				await within(async () => !(await owner.executionsOf(published)).some(isUnderWay), 60);
				await instance.end('SIGTERM');
				const text = Buffer.concat(received).toString('latin1');
				const spans = text.split('n8n-nodes-model-gateway.modelGateway').length - 1;
				const custom = text.split('n8n.node.custom.').length - 1;
				return [
					atLeast('spans of orders', spans, orders),
					{ figure: 'attributes of the node in them', value: String(custom) },
					none(
						'spans with a key, a prompt or a link of the service',
						[secret, gateway.apiKey, gateway.url].filter((one) => text.includes(one)).length,
					),
				];
			} finally {
				await instance.end('SIGKILL');
			}
		});
	} finally {
		await gateway.close();
		collector.close();
	}
}
