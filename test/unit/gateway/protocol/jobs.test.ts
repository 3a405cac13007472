import { isFinal, phaseOf } from '../../../../nodes/shared/gateway/protocol/jobs';

// The expected phases come from the service's specification, not from the code.

describe('the phase of a state', () => {
	it.each([
		['PENDING', 'queued'],
		['RUNNING', 'running'],
		['SUCCEEDED', 'succeeded'],
		['FAILED', 'failed'],
		['submitted', 'queued'],
		['in_progress', 'running'],
		['completed', 'succeeded'],
		['failed', 'failed'],
		['queued', 'queued'],
		['processing', 'running'],
	])('maps the state %s to the phase %s', (state, phase) => {
		expect(phaseOf(state)).toBe(phase);
	});

	it.each(['COMPLETED', 'In_Progress', 'pending', 'succeeded', 'Running'])(
		'knows the phase of a state in any letter case: %s',
		(state) => {
			expect(phaseOf(state)).toBeDefined();
		},
	);

	it.each(['', 'canceled', 'UNKNOWN', 'constructor', '__proto__'])(
		'gives no phase for the unknown state "%s"',
		(state) => {
			expect(phaseOf(state)).toBeUndefined();
		},
	);
});

describe('the end of a job', () => {
	it.each([
		['succeeded', true],
		['failed', true],
		['queued', false],
		['running', false],
		[undefined, false],
	] as const)('says whether a job in the phase %s has ended: %s', (phase, hasEnded) => {
		expect(isFinal(phase)).toBe(hasEnded);
	});
});
