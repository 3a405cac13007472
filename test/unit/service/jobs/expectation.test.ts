import {
	expectationOf,
	lengthNames,
	timeOf,
	type JobWork,
} from '../../../../nodes/shared/service/jobs/expectation';

const beta: JobWork = { kind: 'task', model: 'beta-2.7-r2v', seconds: 5 };
const video: JobWork = { kind: 'video', model: 'vid-3.1' };
const twenty = Array.from({ length: 20 }, (_, index) => 180 + 3 * index);
const usual = 'A reference video usually takes 1 to 5 minutes.';
const range = '(videos of beta-2.7-r2v took 3 to 4 minutes in the last 20)';
const overdue = /^This takes more than three times as long as usual\. .* costs nothing\..*job ID/;

it.each<[string, JobWork, number[], number, number | undefined, string | RegExp]>([
	['a task of which nothing is known', beta, [], 30, undefined, usual],
	['a task with too few earlier ones', beta, twenty.slice(0, 4), 30, undefined, usual],
	['a video of which nothing is known', video, [], 5_000, undefined, ''],
	['a job of an unknown kind', {}, [], 30, undefined, ''],
	['a task of which nothing is known, after 15 minutes', beta, [], 900, undefined, usual],
	['the same, later', beta, [], 901, undefined, overdue],
	['a new job', beta, twenty, 0, 228, `About 4 minutes more ${range}.`],
	['a job under way', beta, twenty, 120, 108, `About 2 minutes more ${range}.`],
	['a job that has outlasted some others', beta, twenty, 229, 5, `About 10 seconds more ${range}.`],
	['a job that has outlasted all others', beta, twenty, 240, undefined, /^Longer than usual \(/],
	['a job after three times the median', beta, twenty, 684, undefined, /^Longer than usual \(/],
	['the same, later', beta, twenty, 685, undefined, overdue],
	['a video with earlier ones', video, [70, 80, 75, 900, 72], 0, 75, /^About 80 seconds more/],
	[
		'a job in a slow hour',
		beta,
		[...twenty, ...Array.from({ length: 5 }, () => 420)],
		0,
		420,
		/^About 7 minutes more \(videos of beta-2.7-r2v took 3.5 to 7 minutes in the last 20\)\.$/,
	],
	[
		'a job whose model is unknown',
		{ kind: 'task' },
		Array.from({ length: 5 }, () => 60),
		20,
		40,
		'About 40 seconds more (reference videos took 60 seconds in the last 5).',
	],
])('says when %s is expected', (_, work, lengths, elapsed, secondsLeft, text) => {
	const expectation = expectationOf(work, lengths, elapsed);
	expect(expectation.secondsLeft).toBe(secondsLeft);
	expect(expectation.text).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
	expect(expectation.isOverdue).toBe(overdue.test(expectation.text));
});

it('compares a job with those of the same model and duration first', () => {
	expect(lengthNames(beta)).toEqual(['task beta-2.7-r2v 5', 'task beta-2.7-r2v']);
	expect([lengthNames(video), lengthNames({ kind: 'task' }), lengthNames({})]).toEqual([
		['video vid-3.1'],
		['task'],
		[],
	]);
});

it.each([
	[0, '10 seconds'],
	[44, '40 seconds'],
	[104, '100 seconds'],
	[105, '2 minutes'],
	[150, '2.5 minutes'],
	[569, '9.5 minutes'],
	[570, '10 minutes'],
	[700, '12 minutes'],
])('rounds %d seconds to %s', (seconds, text) => {
	expect(timeOf(seconds)).toBe(text);
});
