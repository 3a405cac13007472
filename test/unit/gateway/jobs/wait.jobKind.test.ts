import { failureOf } from '../../../support/workflows/gatewayWorld';
import { content, done, video, waitFor, type Waiting } from '../../../support/workflows/jobWaits';
import {
	completed,
	inTurn,
	link,
	lost,
	page,
	refusal,
	type Asked,
	type Said,
} from '../../../support/time/simulatedJobs';

describe('jobs of unknown kind', () => {
	it.each<[string, Said]>([
		['500', refusal(500)],
		['429', refusal(429)],
		['a page', page],
		['a lost response', lost],
		['an unknown status', { status: 'ok' }],
	])('finds a job at its endpoint whatever the other one responds: %s', async (_, said) => {
		for (const kind of ['task', 'video'] as const) {
			const right = kind === 'task' ? completed : done;
			const say = (asked: Asked): Said =>
				asked.what === 'content' ? content : asked.what === kind ? right : said;
			const { wait, jobs } = waitFor(say, {});
			expect((await wait.hold()).source.url).toBe(link);
			expect(jobs.times[kind === 'task' ? 0 : 1]).toBe(kind === 'task' ? 0 : 3000);
			expect(wait.state.job).toMatchObject({ kind, status: 'completed' });
		}
	});

	it('stays at an endpoint that names the job, even with an unknown status', async () => {
		const strange = { status: 'warming_up', task_id: 'job_1' };
		const { wait, jobs } = waitFor(inTurn(strange, completed), {});
		await wait.hold();
		expect(jobs.asked.map(({ what }) => what)).toEqual(['task', 'task']);
	});

	const unknown = { status: 'failed', error: { code: 'task_not_exist', message: 'no' } };
	const any = ['task', undefined] as const;
	const typed = [undefined];

	it.each<[string, Said, ReadonlyArray<'task' | undefined>]>([
		['404', refusal(404), any],
		['200 video_not_found', refusal(200, 'video_not_found'), any],
		['403', refusal(403), any],
		['401', refusal(401), any],
		// It says nothing about a job that the item names as a task.
		['500 task_not_exist', refusal(500, 'task_not_exist'), typed],
		// A task with this reason has failed.
		['a failure because the job is unknown', unknown, typed],
	])('polls a job as the other kind after %s', async (_, said, kinds) => {
		for (const kind of kinds) {
			const say = (asked: Asked) => (asked.what === 'task' ? said : video(done)(asked));
			const { wait, jobs } = waitFor(say, { kind });
			expect((await wait.hold()).source.url).toBe(link);
			expect(jobs.times).toEqual([0, 3000, 3000]);
			expect(wait.state.job).toMatchObject({ kind: 'video', status: 'completed' });
		}
	});

	it.each<[string, Said, Waiting, string[]]>([
		['a refusal of the key', refusal(401), { isCreated: true }, ['task', 'task']],
		['a failure', unknown, {}, ['task']],
		['a failure of a job from its creation', unknown, { isCreated: true }, ['task']],
		['a video that is not ready', refusal(404, 'video_not_ready'), {}, ['task', 'task']],
	])('does not poll a task as a video after %s', async (_, said, settings, expected) => {
		const { wait, jobs } = waitFor(inTurn(said, completed), { kind: 'task', ...settings });
		await wait.hold().catch(() => undefined);
		expect(jobs.asked.map(({ what }) => what)).toEqual(expected);
	});

	it.each<[string, Said]>([
		['404', refusal(404)],
		['403', refusal(403)],
		['500', refusal(500)],
		['a lost response', lost],
	])(
		'reports a job as failed whose reason says "not found" when the other endpoint responds with %s',
		async (_, other) => {
			const say = ({ what }: Asked) => (what === 'task' ? unknown : other);
			const { wait, jobs } = waitFor(say, {});
			const { record } = await failureOf(wait.hold());
			expect(record.message).toMatch(/^Video (task|job) job_1 failed: no$/);
			expect(record).toMatchObject({ billed: 'unknown', job: { id: 'job_1', status: 'failed' } });
			expect(record.advice).not.toContain('Check the ID');
			expect(jobs.asked.map(({ what }) => what)).toEqual(['task', 'video']);
		},
	);

	it.each<[string, Said, Said, number]>([
		['the first', refusal(403), refusal(404), 403],
		['the second', refusal(404), refusal(403), 403],
		['the first', refusal(401), refusal(403), 401],
	])('reports what %s endpoint says when that is more than "not found"', async (_, ...said) => {
		const [first, second, status] = said;
		const { wait } = waitFor(({ what }) => (what === 'task' ? first : second), {});
		expect((await failureOf(wait.hold())).record.status).toBe(status);
	});

	it('polls both endpoints when the one that the item names refuses and the other fails', async () => {
		const say = ({ what, before }: Asked): Said => {
			if (what === 'video') return refusal(500);
			return before < 4 ? refusal(403) : completed;
		};
		const { wait, jobs } = waitFor(say, { kind: 'task' });
		expect((await wait.hold()).source.url).toBe(link);
		const kinds = jobs.asked.map(({ what }) => what);
		expect(kinds).toEqual(['task', 'video', 'task', 'video', 'task']);
	});
});
