import type { IDataObject } from 'n8n-workflow';
import type { FaultAction, Gateway } from '../../../gateway';
import { resumeToEnd, runWorkflow } from '../../harness';
import { earlierJob } from '../../support/workflows/earlierJobs';

import { sha256 } from '../../support/data/sha256';
import { withGateway } from '../../support/http/withGateway';
import { chain, credentialFor, waitForVideo } from '../../support/workflows/workflows';

type Kind = 'task' | 'video';

const message = 'so it says';
const refusal = (status: number, code: string): FaultAction => ({
	...{ action: 'error', status, code, message },
});

describe.each([
	['held', 'manual', 'video'],
	['parked', 'trigger', 'task'],
] as const)('the end of a %s wait', (_, mode, kind) => {
	let gateway: Gateway;
	withGateway(
		{ isTimeSimulated: true, jobSeconds: Infinity },
		(world) => void ({ gateway } = world),
	);

	/** The output of a Create. */
	const created = (kind: Kind, id: string): { json: IDataObject } => ({
		json:
			kind === 'task'
				? { output: { task_id: id, task_status: 'PENDING' } }
				: { id, status: 'queued' },
	});

	/** Waits for the job of an item, or for one whose ID is typed by hand. */
	const waitFor = async (
		{ json = {}, ...parameters }: { json?: IDataObject; jobId?: string },
		options: IDataObject = {},
	) => {
		const began = Date.now();
		const settings = { onError: 'continueRegularOutput' } as const;
		const workflow = chain(waitForVideo({ ...parameters, options }, settings));
		const credentials = credentialFor(gateway);
		const run = await resumeToEnd(
			await runWorkflow(workflow, { credentials, input: [{ json }], mode }),
		);
		const [item] = run.items('Wait for Video', { run: -1 });
		const details = (item.json.details ?? {}) as IDataObject;
		return {
			details,
			error: item.json.error as string | undefined,
			shown: `${item.json.error as string} ${details.advice as string}`,
			video: item.binary && sha256(await run.binary(item)),
			seconds: (Date.now() - began) / 1000,
		};
	};
	const routesOfPolls = () =>
		gateway.requests.flatMap(({ route }) => (route === 'task' || route === 'video' ? route : []));

	describe(`for a ${kind} that comes from a Create`, () => {
		/** A job that runs at first. */
		const runningJob = () => {
			const { id } = earlierJob(gateway, kind);
			gateway.jobs.start(id);
			return id;
		};

		const lasting = [refusal(401, 'invalid_api_key'), refusal(403, 'permission_denied')].map(
			(fault) => ({ ...fault, times: Infinity, route: kind }),
		);

		it.each([
			...lasting.map((fault) => ({ ...fault, begin: 'the first poll', skip: 0 })),
			...lasting.map((fault) => ({ ...fault, begin: 'a later poll', skip: 1 })),
		])('ends with the reason after a minute of $status from $begin on', async (fault) => {
			const id = runningJob();
			const armed = gateway.fault(fault);
			const { details, error, shown, seconds } = await waitFor(created(kind, id));
			expect(error).toContain(message);
			expect(shown).not.toContain('not known to the service');
			expect(details).toMatchObject({ code: (fault as { code?: string }).code, job: { id } });
			expect(details.billed).not.toBe('no');
			expect(armed.hits).toBeGreaterThanOrEqual(3);
			expect(seconds).toBeGreaterThanOrEqual(60);
			expect(seconds).toBeLessThan(5 * 60);
		});

		it.each(['Human face not found in image 1', 'The file does not exist', 'task not exist'])(
			'reports the reason of a job that failed before the first poll: %s',
			async (reason) => {
				const { id } = earlierJob(gateway, kind);
				gateway.jobs.fail(id, { message: reason });
				const { error, shown } = await waitFor(created(kind, id));
				expect(error).toContain(`${id} failed: ${reason}`);
				expect(shown).not.toContain('not known to the service');
				expect(routesOfPolls()).toEqual([kind]);
			},
		);
	});

	describe('for a job whose ID is typed by hand', () => {
		it('ends within two minutes when neither endpoint knows the job', async () => {
			const { details, seconds } = await waitFor({ jobId: 'job_unknown' });
			expect(details).toMatchObject({ status: 404, job: { id: 'job_unknown' } });
			expect(details.billed).not.toBe('no');
			expect(new Set(routesOfPolls())).toEqual(new Set(['task', 'video']));
			expect(seconds).toBeLessThan(120);
		});
	});
});
