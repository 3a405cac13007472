import { failureOf } from '../support/gatewayWorld';
import { done, video, waitFor } from '../support/jobWaits';
import {
	completed,
	inTurn,
	link,
	lost,
	refusal,
	running,
	type Asked,
	type Said,
} from '../support/simulatedJobs';

describe('a job of unknown kind', () => {
	const unknownTask = (asked: Asked) => (asked.what === 'task' ? refusal(404) : video(done)(asked));

	it('is asked for as a task first', async () => {
		const { wait, jobs } = waitFor(inTurn(running, completed), {});
		await wait.hold();
		expect(jobs.asked.map(({ what }) => what)).toEqual(['task', 'task']);
		expect(wait.state.job.kind).toBe('task');
	});

	it('is asked for as a video next', async () => {
		const { wait, jobs } = waitFor(unknownTask, {});
		await wait.hold();
		expect(jobs.asked.map(({ what, at }) => [what, at])).toEqual([
			['task', 0],
			['video', 3000],
			['content', 3000],
		]);
		expect(wait.state.job.kind).toBe('video');
	});

	it('stays unknown while the service says nothing about it', async () => {
		const said = video(lost, refusal(500), refusal(404), running, done);
		const { wait, jobs } = waitFor(said, {});
		await wait.hold();
		expect(jobs.asked.slice(0, 4).map(({ what }) => what)).toEqual([
			'task',
			'task',
			'task',
			'video',
		]);
	});

	it('that neither endpoint knows is reported at once', async () => {
		const { wait, jobs } = waitFor(inTurn(refusal(404, 'video_not_found')), {});
		const { record } = await failureOf(wait.hold());
		expect(record).toMatchObject({ status: 404, code: 'video_not_found', job: { id: 'job_1' } });
		expect(jobs.times).toEqual([0, 3000]);
	});

	const unknown = { status: 'failed', error: { code: 'task_not_exist', message: 'no' } };

	it.each<[string, Said]>([
		['500 video_not_found', refusal(500, 'video_not_found')],
		['500 task_not_exist', refusal(500, 'task_not_exist')],
		['200 video_not_found', refusal(200, 'video_not_found')],
		['403', refusal(403)],
		['401', refusal(401)],
		['a failure for being unknown', unknown],
	])('is asked for as the other kind after %s, also when the item told one', async (name, said) => {
		// A server in trouble may say anything of a job that is known to be a task.
		for (const kind of name.startsWith('500') ? [undefined] : (['task', undefined] as const)) {
			const say = (asked: Asked) => (asked.what === 'task' ? said : video(done)(asked));
			const { wait, jobs } = waitFor(say, { kind });
			expect((await wait.hold()).source.url).toBe(link);
			expect(jobs.times).toEqual([0, 3000, 3000]);
			expect(wait.state.job).toMatchObject({ kind: 'video', status: 'completed' });
		}
	});

	it.each<[string, Said, Said, number]>([
		['the first', refusal(403), refusal(404), 403],
		['the second', refusal(404), refusal(403), 403],
	])('is reported with what %s says, if that is more than "not found"', async (_, ...said) => {
		const [first, second, status] = said;
		const { wait } = waitFor(({ what }) => (what === 'task' ? first : second), {});
		expect((await failureOf(wait.hold())).record.status).toBe(status);
	});

	it('that the service calls failed because it does not know it is not said to have failed', async () => {
		const { wait } = waitFor(inTurn(unknown), {});
		const { record } = await failureOf(wait.hold());
		expect(record.message).toBe('Job job_1 is not known to the service: no');
		expect(record.advice).toMatch(/^Check the ID of the job/);
		expect(record.advice).not.toMatch(/wait for it|create a new job/);
	});

	it('goes on being asked for while one of the two may yet know it', async () => {
		const say = ({ what, before }: Asked) =>
			what === 'video' ? refusal(404) : before < 5 ? refusal(500, 'task_not_exist') : completed;
		expect((await waitFor(say, {}).wait.hold()).source.url).toBe(link);
	});

	it('that failed for a reason of its own is not asked for elsewhere', async () => {
		const { wait, jobs } = waitFor(inTurn({ status: 'failed', error: 'no faces' }), {});
		expect((await failureOf(wait.hold())).message).toBe('Video task job_1 failed: no faces');
		expect(jobs.asked).toHaveLength(1);
	});

	it('that has been seen once is not asked for elsewhere', async () => {
		const { wait, jobs } = waitFor(inTurn(running, refusal(404)), {});
		await failureOf(wait.hold());
		expect(jobs.asked.map(({ what }) => what)).toEqual(['task', 'task']);
	});
});
