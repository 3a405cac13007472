import { failureOf } from '../../../support/workflows/gatewayWorld';
import {
	content,
	done,
	minute,
	video,
	waitFor,
	type Waiting,
} from '../../../support/workflows/jobWaits';
import {
	completed,
	inTurn,
	link,
	lost,
	page,
	proxyPage,
	refusal,
	running,
	type Asked,
	type Said,
} from '../../../support/time/simulatedJobs';

describe('jobs of unknown kind', () => {
	const unknownTask = (asked: Asked) => (asked.what === 'task' ? refusal(404) : video(done)(asked));

	it('polls a job of unknown kind as a task first', async () => {
		const { wait, jobs } = waitFor(inTurn(running, completed), {});
		await wait.hold();
		expect(jobs.asked.map(({ what }) => what)).toEqual(['task', 'task']);
		expect(wait.state.job.kind).toBe('task');
	});

	it('polls a job as a video when it is not found as a task', async () => {
		const { wait, jobs } = waitFor(unknownTask, {});
		await wait.hold();
		expect(jobs.asked.map(({ what, at }) => [what, at])).toEqual([
			['task', 0],
			['video', 3000],
			['content', 3000],
		]);
		expect(wait.state.job.kind).toBe('video');
	});

	it('polls a job as both kinds in turn while the service does not show its kind', async () => {
		const said = video(lost, refusal(500), refusal(404), running, done);
		const { wait, jobs } = waitFor(said, {});
		await wait.hold();
		expect(jobs.asked.slice(0, 4).map(({ what, at }) => [what, at])).toEqual([
			['task', 0],
			['video', 3000],
			['task', 13_000],
			['video', 16_000],
		]);
		expect(wait.state.job.kind).toBe('video');
	});

	it.each<[string, Said]>([
		['500', refusal(500)],
		['502', refusal(502)],
		['429', refusal(429)],
		['a page', page],
		['a lost response', lost],
		['no status', {}],
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

	it('polls the other endpoint no sooner than Retry-After says', async () => {
		const busy = refusal(429, 'rate_limit_exceeded', 30_000);
		const said = (asked: Asked) => (asked.what === 'task' ? busy : video(done)(asked));
		const { wait, jobs } = waitFor(said, {});
		await wait.hold();
		expect(jobs.times.slice(0, 2)).toEqual([0, 30_000]);
	});

	it('polls both endpoints however short the timeout is', async () => {
		const say = (asked: Asked) => (asked.what === 'task' ? refusal(500) : video(done)(asked));
		expect((await waitFor(say, { timeout: 0 }).wait.hold()).source.url).toBe(link);
	});

	it('stays at an endpoint that names the job, even with an unknown status', async () => {
		const strange = { status: 'warming_up', task_id: 'job_1' };
		const { wait, jobs } = waitFor(inTurn(strange, completed), {});
		await wait.hold();
		expect(jobs.asked.map(({ what }) => what)).toEqual(['task', 'task']);
	});

	it('keeps an unknown status of a job whose kind the item names, or which has been found', async () => {
		const strange = { status: 'warming_up' };
		for (const wait of [
			waitFor(inTurn(strange), { kind: 'task', timeout: minute }).wait,
			waitFor(inTurn(running, strange), { timeout: minute }).wait,
		]) {
			const { record } = await failureOf(wait.hold());
			expect(record.message).toContain('did not finish within 1 minute (last status warming_up');
		}
	});

	const unknown = { status: 'failed', error: { code: 'task_not_exist', message: 'no' } };
	const any = ['task', undefined] as const;
	const typed = [undefined];

	it.each<[string, Said, ReadonlyArray<'task' | undefined>]>([
		['404', refusal(404), any],
		['404 of a proxy', proxyPage(404), any],
		['500 video_not_found', refusal(500, 'video_not_found'), any],
		['200 video_not_found', refusal(200, 'video_not_found'), any],
		['400', refusal(400), any],
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
		['the same', unknown],
		['404', refusal(404)],
		['403', refusal(403)],
		['500', refusal(500)],
		['a lost response', lost],
		['a status of anything', { status: 'ok' }],
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

	it('continues to poll while one of the endpoints may still know the job', async () => {
		const say = ({ what, before }: Asked) =>
			what === 'video' ? refusal(404) : before < 5 ? refusal(500, 'task_not_exist') : completed;
		expect((await waitFor(say, {}).wait.hold()).source.url).toBe(link);
	});

	it('polls only the endpoint of the kind that the item names while it fails', async () => {
		const { wait, jobs } = waitFor(inTurn(refusal(500), page, refusal(429), completed), {
			kind: 'task',
		});
		await wait.hold();
		expect(jobs.asked.map(({ what }) => what)).toEqual(['task', 'task', 'task', 'task']);
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

	it('does not poll the other endpoint once the job has failed for a reason of its own', async () => {
		const { wait, jobs } = waitFor(inTurn({ status: 'failed', error: 'no faces' }), {});
		expect((await failureOf(wait.hold())).message).toBe('Video task job_1 failed: no faces');
		expect(jobs.asked).toHaveLength(1);
	});
});
