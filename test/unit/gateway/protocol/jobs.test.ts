import { isFinal, phaseOf } from '../../../../nodes/shared/gateway/protocol/jobs';

// What is expected here is written down from the service's specification, not from the code.

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
	])('is known for %s', (state, phase) => {
		expect(phaseOf(state)).toBe(phase);
	});

	it.each(['COMPLETED', 'In_Progress', 'pending', 'succeeded', 'Running'])(
		'does not depend on its case: %s',
		(state) => {
			expect(phaseOf(state)).toBeDefined();
		},
	);

	it.each(['', 'canceled', 'UNKNOWN', 'constructor', '__proto__'])(
		'is undefined for "%s"',
		(state) => {
			expect(phaseOf(state)).toBeUndefined();
		},
	);
});

describe('a job', () => {
	it.each([
		['succeeded', true],
		['failed', true],
		['queued', false],
		['running', false],
		[undefined, false],
	] as const)('that is %s has ended: %s', (phase, hasEnded) => {
		expect(isFinal(phase)).toBe(hasEnded);
	});
});
