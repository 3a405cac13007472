import {
	failureOfJob,
	jobCollected,
	orderedJob,
	rememberOrdered,
} from '../../../../nodes/shared/n8n/execution/orderedJobs';

it('knows a job anew when its ID is that of a later order', () => {
	rememberOrdered('1', 'https://one.example', { kind: 'task' });
	jobCollected('1', 'too dark');
	expect(failureOfJob('1')).toBe('too dark');
	rememberOrdered('1', 'https://other.example', { kind: 'video' });
	expect(failureOfJob('1')).toBeUndefined();
	expect(orderedJob('1', 'https://one.example')).toBeUndefined();
	expect(orderedJob('1', 'https://other.example')).toMatchObject({ kind: 'video' });
});
