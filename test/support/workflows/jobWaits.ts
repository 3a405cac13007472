import { startWait, type PollerState } from '../../../nodes/shared/gateway/jobs/poller';
import { JobWait, type WaitSettings } from '../../../nodes/shared/gateway/jobs/wait';
import type { JobKind } from '../../../nodes/shared/gateway/protocol/jobs';
import { SimulatedClock } from '../time/simulatedClock';
import { inTurn, link, SimulatedJobs, type Asked, type Said } from '../time/simulatedJobs';

export const second = 1000;
export const minute = 60 * second;

/** The responses of the service for a completed video job: its status and its content. */
export const done = { status: 'completed' };
export const content = { url: link };

/** Responses for a video job, whose content is requested when the job is completed. */
export const video =
	(...polls: Said[]) =>
	(asked: Asked): Said =>
		asked.what === 'content' ? content : inTurn(...polls)(asked);

interface NewJob extends Partial<Pick<PollerState, 'timeout' | 'pollInterval' | 'isCreated'>> {
	id?: string;
	kind?: JobKind;
}

/** The job to wait for, and how to wait. */
export interface Waiting extends NewJob, Partial<Omit<WaitSettings, 'clock'>> {
	latency?: number;
}

/** A job at the start of the wait for it. */
export const newJob = (
	now: number,
	{ id = 'job_1', kind, timeout = 20 * minute, ...settings }: NewJob = { kind: 'task' },
): PollerState =>
	startWait(
		{ id, ...(kind && { kind }) },
		{ now, timeout, pollInterval: settings.pollInterval, isCreated: settings.isCreated },
	);

/** A wait for one job in simulated time. @param say the responses of the service */
export const waitFor = (
	say: (asked: Asked) => Said,
	{ latency, ...settings }: Waiting = { kind: 'task' },
) => {
	const clock = new SimulatedClock();
	const jobs = new SimulatedJobs(clock, say, latency);
	const start = clock.now();
	const wait = new JobWait(jobs, newJob(start, settings), { clock, ...settings });
	return { clock, jobs, wait, passed: () => clock.now() - start };
};

/** Settings of a wait for a task. */
export const task = (settings: Waiting = {}): Waiting => ({ kind: 'task', ...settings });
