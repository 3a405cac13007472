import { SsrfProtectionConfig } from '@n8n/config';
import { Container } from '@n8n/di';
import type { Gateway } from '../../../gateway';
import { runWorkflow, testCredential } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { nobody, reset, startServer } from '../../support/http/scriptedServer';
import {
	byId,
	chain,
	credentialFor,
	modelGateway,
	waitForVideo,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

let gateway: Gateway;
beforeAll(() => void (Container.get(SsrfProtectionConfig).enabled = true));
afterAll(() => void (Container.get(SsrfProtectionConfig).enabled = false));
withGateway({ isTimeSimulated: true }, (world) => void ({ gateway } = world));

const allow = (host: string) =>
	`Ask the administrator of n8n to allow ${host} (N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES).`;
const hosts: Array<[what: string, url: () => Promise<string>, problem: string, advice: string]> = [
	[
		'that does not exist',
		async () => 'https://storage.invalid',
		'the host storage.invalid is not found',
		'Check the network of n8n: its DNS has to know storage.invalid.',
	],
	[
		'where nothing listens',
		async () => nobody,
		'127.0.0.1:1 refuses the connection',
		'Check whether a firewall or a proxy keeps n8n from 127.0.0.1:1.',
	],
	[
		'whose name n8n blocks',
		async () => 'https://storage.blocked',
		"n8n's SSRF protection blocks storage.blocked",
		allow('storage.blocked'),
	],
	[
		'whose address n8n blocks',
		async () => 'http://127.0.0.2:9000',
		"n8n's SSRF protection blocks 127.0.0.2:9000",
		allow('127.0.0.2:9000'),
	],
	[
		'that breaks each connection',
		async () => (await startServer(reset)).url,
		'the connection was lost before the response arrived from 127.0.0.1',
		'Collect it by its ID',
	],
];

it.each(hosts)(
	'explains why the download of a video fails at a storage host %s',
	async (_, urlOf, problem, advice) => {
		const { id } = earlierJob(gateway, 'task', mp4Of(1000));
		const body = { status: 'completed', result_url: `${await urlOf()}/v.mp4`, task_id: id };
		gateway.fault({
			...{ route: 'task', action: 'answer', times: Infinity },
			body: JSON.stringify(body),
		});
		const result = await runWorkflow(chain(waitForVideo()), {
			credentials: credentialFor(gateway),
			input: [{ json: { task_id: id } }],
		});
		const { message, description } = result.errorOf('Wait for Video') ?? {};
		expect(message).toContain(`Could not download the video of job ${id}: `);
		expect(message).toContain(problem);
		expect(description).toContain(advice);
		expect(description).toContain('The video is finished and charged, and it is not lost');
		expect(description).not.toMatch(/Base URL|credential|[Nn]othing was sent/);
	},
);

it('explains why the download of an image fails', async () => {
	const data = [{ url: 'https://storage.blocked/1.png' }];
	gateway.fault({ route: 'imageGenerate', action: 'answer', body: JSON.stringify({ data }) });
	const generate = modelGateway({
		...{ resource: 'image', operation: 'generate', model: byId('image-1'), prompt: 'A boat' },
	});
	const result = await runWorkflow(chain(generate), { credentials: credentialFor(gateway) });
	const { message, description } = result.errorOf('Model Gateway') ?? {};
	expect(message).toContain("n8n's SSRF protection blocks storage.blocked");
	expect(description).toContain(allow('storage.blocked'));
	expect(description).toContain('The image is made and charged. Fetch it by its link');
	expect(description).not.toMatch(/Base URL|credential|[Nn]othing was sent/);
});

it('names the n8n setting that blocks the address of the gateway', async () => {
	const models = modelGateway({ resource: 'model', operation: 'getAll', returnAll: true });
	const credentials = credentialFor({ url: 'https://storage.blocked', apiKey: 'sk-0123456789' });
	const error = (await runWorkflow(chain(models), { credentials })).errorOf('Model Gateway');
	expect(error?.message).toContain('Could not list the models: the gateway could not be reached');
	expect(error?.description).toContain("n8n's SSRF protection blocks the address of the gateway");
	expect(error?.description).toContain(allow('it'));
	const dialog = await testCredential('modelGatewayApi', credentials.modelGatewayApi);
	expect(dialog.message).toBe(
		`Base URL: n8n's SSRF protection blocks storage.blocked. ${allow('it')}`,
	);
});
