import { chain, credentialFor, waitForVideo } from '../support/workflows/workflows';
import { startGateway } from '../../gateway';
import { resumeExecution, runWorkflow, SimulatedTime } from '../harness';
import { mp4Of } from '../support/files/boxes';
import { earlierTasks } from '../support/workflows/earlierJobs';

const count = 500;

it(`a parked Wait for Video hands on ${count} videos that finish at different times, each once`, async () => {
	const time = new SimulatedTime();
	const gateway = await startGateway({ linkSeconds: 1e6 });
	try {
		const jobs = earlierTasks(gateway, count);
		let run = await runWorkflow(chain(waitForVideo()), {
			credentials: credentialFor(gateway),
			input: jobs.map(({ id }) => ({ json: { task_id: id } })),
			mode: 'trigger',
		});
		for (let pass = 0; pass < 5; pass++) {
			for (const { id } of jobs.filter((_, index) => (index * 7) % 5 === pass)) {
				gateway.jobs.complete(id, mp4Of(1000));
			}
			jest.setSystemTime((run.waitTill as Date).getTime() + 60_000);
			run = await resumeExecution(run);
		}
		expect(run.status).toBe('success');
		expect(run.items('Wait for Video').map(({ json }) => json.task_id)).toEqual(
			jobs.map(({ id }) => id),
		);
		expect(gateway.requests.filter(({ route }) => route === 'download')).toHaveLength(count);
		const polls = gateway.requests.filter(({ route }) => route === 'task');
		expect(polls).toHaveLength((count / 5) * (1 + 2 + 3 + 4 + 5));
	} finally {
		await gateway.close();
		await time.end();
	}
});
