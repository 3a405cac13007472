import type { GatewayError } from '../../../../nodes/shared/service/errors/gatewayError';
import { heldBack } from '../../../../nodes/shared/service/errors/requestErrors';
import { step } from '../../../../nodes/shared/service/jobs/poller';
import {
	startWait,
	type PollerAction,
	type PollerEvent,
	type PollerState,
} from '../../../../nodes/shared/service/jobs/pollerState';
import { jobStatus } from '../../../../nodes/shared/service/jobs/responses';
import { answerOf } from '../../../support/data/answers';
import {
	completed,
	link,
	lost,
	proxyPage,
	refusal,
	running,
} from '../../../support/time/simulatedJobs';

const second = 1000;
const minute = 60 * second;

/** The wait begins at 0, and its deadline is after 20 minutes. */
const timeout = 20 * minute;
const task = startWait({ id: 'job_1', kind: 'task' }, { now: 0, timeout });
const video = startWait({ id: 'job_1', kind: 'video' }, { now: 0, timeout });
const unknown = startWait({ id: 'job_1' }, { now: 0, timeout });
const created = { ...task, isCreated: true };

const started = (now: number, pass: { delay?: number; endsAt?: number } = {}): PollerEvent => ({
	type: 'passStarted',
	now,
	...pass,
});
const passAt0 = started(0, { endsAt: 0 });
const cut = lost.with({ reach: 'unreadable', status: 200, kind: 'cut' });
const held = heldBack('get the job status', 'the limits of the credential');
const due = (now: number): PollerEvent => ({ type: 'due', now });
const polled = (now: number, body: object): PollerEvent => ({
	type: 'polled',
	now,
	status: jobStatus(answerOf(body)),
});
const failed = (now: number, error: GatewayError): PollerEvent => ({
	type: 'requestFailed',
	now,
	error,
});
const contentReceived: PollerEvent = {
	type: 'contentReceived',
	content: { source: { url: link, authenticated: false }, fields: { url: link } },
};
const linkExpired = (now: number): PollerEvent => ({ type: 'linkExpired', now });

const wait = (until: number): PollerAction => ({ do: 'wait', until });
const park = (until: number): PollerAction => ({ do: 'park', until });
const poll = (kind: 'task' | 'video', timeout = minute): PollerAction => ({
	do: 'poll',
	kind,
	timeout,
});
const fetchContent: PollerAction = { do: 'fetchContent' };
const finish = { do: 'finish', finished: { source: { url: link, authenticated: false } } };
const fail = (message: string) => ({
	do: 'fail',
	error: { message: expect.stringContaining(message) },
});

const done = { status: 'completed' };

const once = [started(0), failed(0, refusal(401))];
const twice = [...once, due(10_000), failed(10_000, refusal(401))];

/** The state after these events, as n8n's database returns it. */
function after(state: PollerState, events: PollerEvent[]): PollerState {
	return events.reduce(
		(before, event) => JSON.parse(JSON.stringify(step(before, event).state)) as PollerState,
		state,
	);
}

type Row = [name: string, state: PollerState, events: PollerEvent[], action: object];

it.each<Row>([
	// Passes.
	['polls after the delay of a pass', task, [started(0, { delay: 700 })], wait(700)],
	['leaves a poll to the pass after it', task, [passAt0, polled(100, running)], park(10_100)],
	['tries the other kind in one pass', unknown, [passAt0, failed(100, refusal(404))], wait(3100)],
	[
		'leaves the other kind to a later pass when the service asks for it',
		unknown,
		[passAt0, failed(100, refusal(404, undefined, 20_000))],
		park(20_100),
	],
	// Running jobs.
	[
		'returns a job that the poll at the deadline finds finished',
		task,
		[started(0), polled(timeout - 4000, running), due(timeout), polled(timeout, completed)],
		finish,
	],
	[
		'gives up when the job still runs at the deadline',
		task,
		[started(0), polled(timeout - 4000, running), due(timeout), polled(timeout, running)],
		fail('did not finish within 20 minutes'),
	],
	[
		'returns a job whose later poll has the link',
		task,
		[
			started(0),
			polled(100, done),
			failed(200, refusal(404)),
			due(10_100),
			polled(10_100, completed),
		],
		finish,
	],
	// Refusals that last.
	[
		'ends the wait when the key is still refused after a minute',
		created,
		[...twice, due(minute), failed(minute, refusal(401))],
		fail('HTTP 401'),
	],
	...Object.entries({
		'a poll without a response': failed(minute, lost),
		'the page of a proxy': failed(minute, proxyPage(401)),
		'a status': polled(minute, running),
	}).map(([name, other]): Row => [
		`counts the refusals from the beginning after ${name}`,
		created,
		[...twice, due(minute), other, due(70_000), failed(70_000, refusal(401))],
		wait(80_000),
	]),
	[
		'polls a job that was seen until the deadline, although it is not found any more',
		task,
		[
			started(0),
			polled(0, running),
			due(10_000),
			failed(10_000, refusal(404)),
			due(20_000),
			failed(20_000, refusal(404)),
		],
		wait(30_000),
	],
	// Polls that the limits of the credential hold back.
	[
		'waits until the deadline for a poll that is held back',
		task,
		[started(0), polled(100, running), due(10_100)],
		{ do: 'poll', patience: timeout - 10_100 },
	],
	[
		'waits 20 seconds in a pass for a poll that is held back',
		task,
		[passAt0],
		{ do: 'poll', patience: 20_000 },
	],
	['leaves a held poll to the next pass', task, [passAt0, failed(30_000, held)], park(0)],
	[
		'takes no held poll for a sign of the other kind',
		unknown,
		[started(0), failed(30_000, held)],
		wait(40_000),
	],
	[
		'sends a poll that was held back in the next pass, with the same deadline',
		{ ...task, timeout: 66_000 },
		[passAt0, failed(30_000, held), started(minute, { endsAt: minute })],
		{ do: 'poll', patience: 6000 },
	],
	[
		'gives up when the poll at the deadline is held back',
		task,
		[started(0), polled(timeout - 4000, running), due(timeout), failed(timeout + 5000, held)],
		fail('did not finish within 20 minutes'),
	],
	[
		'waits without a limit for a poll for the link of a finished job',
		video,
		[started(0), polled(100, done), failed(200, lost), due(3000)],
		{ do: 'poll', patience: undefined },
	],
	// Polls without a response.
	['waits 8 seconds for a response in a pass', task, [passAt0], poll('task', 8000)],
	[
		'waits a minute in the pass after a poll without a response',
		task,
		[passAt0, failed(8000, lost), started(minute, { endsAt: minute })],
		poll('task'),
	],
	[
		'waits a minute in the pass after a poll whose response broke off',
		task,
		[passAt0, failed(8000, cut), started(minute, { endsAt: minute })],
		poll('task'),
	],
	[
		'waits 8 seconds again after a poll with a response',
		task,
		[
			passAt0,
			failed(8000, lost),
			started(minute, { endsAt: minute }),
			polled(minute, running),
			started(2 * minute, { endsAt: 2 * minute }),
		],
		poll('task', 8000),
	],
	// Expired links.
	[
		'replaces the expired link of a task by a poll that keeps its interval',
		task,
		[started(0), polled(100, completed), linkExpired(1000)],
		wait(3000),
	],
	[
		'replaces the expired link of a video by a request for its content',
		video,
		[started(0), polled(100, done), contentReceived, linkExpired(minute)],
		fetchContent,
	],
])('%s', (_, state, events, action) => {
	const last = events[events.length - 1];
	expect(step(after(state, events.slice(0, -1)), last).action).toMatchObject(action);
});
