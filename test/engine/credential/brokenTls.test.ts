import type { IDataObject } from 'n8n-workflow';
import { startGateway } from '../../../gateway';
import { runWorkflow, SimulatedTime } from '../../harness';
import {
	allEnds,
	moments,
	startBreakingTls,
	trustCertificate,
	type End,
	type Moment,
} from '../../support/http/breakingTls';
import { chain, createReferenceVideo, credentialFor } from '../../support/workflows/workflows';

let time: SimulatedTime;
let distrust: () => void;
beforeEach(() => {
	time = new SimulatedTime();
	distrust = trustCertificate();
});
afterEach(async () => {
	await time.end();
	distrust();
});

/** Orders one video from a gateway behind breaking TLS, with a backup URL behind the same. */
async function order(broken: {
	version: 'TLSv1.2' | 'TLSv1.3';
	at: Moment;
	by: End;
	times: number;
}) {
	const gateway = await startGateway({ jobSeconds: 60, render: async () => new Uint8Array(0) });
	const front = await startBreakingTls(gateway.url, broken);
	const backup = await startBreakingTls(gateway.url, broken);
	const media = [
		{ type: 'reference_image', url: gateway.addMedia('a.png', new Uint8Array(8), 'image/png') },
	];
	try {
		const credentials = credentialFor(
			{ url: front.url, apiKey: gateway.apiKey },
			{ backupUrl: backup.url },
		);
		const settings = { onError: 'continueRegularOutput' } as const;
		const run = await runWorkflow(chain(createReferenceVideo({}, settings)), {
			credentials,
			input: [{ json: { prompt: 'Waves', media } }],
			mode: 'trigger',
		});
		const [{ json }] = run.items('Create');
		return {
			output: json,
			billed: (json.details as IDataObject | undefined)?.billed,
			jobs: gateway.ledger.length,
			connections: front.connections + backup.connections,
		};
	} finally {
		await Promise.all([front.close(), backup.close()]);
		await gateway.close();
	}
}

/** Whether a request can be in flight. A TLS 1.3 client may send before the server has the client's last message. */
const isSent = (version: string, at: Moment) =>
	at === 'accepted' || at === 'responding' || (at === 'secured' && version === 'TLSv1.3');

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('an order over %s', (version) => {
	it.each(moments)(
		'is placed at most once when every connection breaks in the state "%s"',
		async (at) => {
			const outcomes = await Promise.all(
				allEnds.map(async (by) => ({
					by,
					...(await order({ version, at, by, times: Infinity })),
				})),
			);
			for (const { by, jobs, billed, connections } of outcomes) {
				const isAccepted = at === 'accepted' || at === 'responding';
				expect({ by, jobs }).toEqual({ by, jobs: isAccepted ? 1 : 0 });
				expect({ by, billed }).toEqual({ by, billed: isSent(version, at) ? 'unknown' : 'no' });
				if (isSent(version, at)) expect({ by, connections }).toEqual({ by, connections: 1 });
			}
		},
	);

	it.each(['connected', 'greeted'] as const)(
		'is placed by a later attempt when the first connection breaks in the state "%s"',
		async (at) => {
			const outcomes = await Promise.all(
				allEnds.map(async (by) => await order({ version, at, by, times: 1 })),
			);
			for (const { output, jobs } of outcomes) {
				expect(jobs).toBe(1);
				expect(output).toHaveProperty('output.task_id');
			}
		},
	);
});
