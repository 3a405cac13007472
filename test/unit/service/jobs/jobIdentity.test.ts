import { OtherJobResponse } from '../../../../nodes/shared/service/client/response';
import { parserForJob } from '../../../../nodes/shared/service/jobs/jobIdentity';
import type { JobKind } from '../../../../nodes/shared/service/protocol/jobs';
import { answerOf } from '../../../support/data/answers';

describe('responses about a job', () => {
	const isAccepted = (kind: JobKind, id: string, body: unknown) => {
		try {
			return parserForJob({ source: kind, id }, () => true)(answerOf(body));
		} catch (error) {
			expect(error).toBeInstanceOf(OtherJobResponse);
			return false;
		}
	};

	it.each<[JobKind, string, unknown]>([
		// It names no job.
		['task', 'a', {}],
		['task', 'a', { task_id: '', output: { task_id: null } }],
		['task', 'a', ['b']],
		['video', 'a', { data: { id: 'b' }, output: { id: 'c' } }],
		// It names jobs of another kind.
		['task', 'a', { task_id: 'a', id: 'b', request_id: 'c' }],
		['task', 'a', { id: 'b', request_id: 'c', status: 'completed' }],
		['video', 'a', { id: 'a', task_id: 'b', output: { task_id: 'c' } }],
		// One of its fields names this job.
		['task', 'a', { task_id: 'b', id: 'a' }],
		['task', 'a', { task_id: 'b', output: { task_id: 'a' } }],
		['video', 'a', { id: 'b', video_id: 'a' }],
		['video', 'a', { id: 'b', data: { id: 'a' } }],
		['video', 'a', { id: 'b', task_id: 'a' }],
		// The same ID in another form.
		['task', '42', { task_id: 42 }],
		['task', '007', { task_id: 7 }],
		['task', 'Task_A', { task_id: 'tASK_a' }],
		['task', 'a b', { task_id: ' a\nb ' }],
		['task', 'a \n b', { task_id: 'ab' }],
		['task', 'a/b', { task_id: 'a%2Fb' }],
		['task', 'a%2Fb', { task_id: 'a/b' }],
		['task', 'a%2Fb', { task_id: 'a%252Fb' }],
		['task', 'e\u0301', { task_id: '\u00e9' }],
	])('accepts a response for the %s that was polled: %s, %j', (kind, id, body) => {
		expect(isAccepted(kind, id, body)).toBe(true);
	});

	it.each<[JobKind, string, unknown]>([
		['task', 'a', { task_id: 'b' }],
		['task', 'a', { data: { task_id: 'b' } }],
		['task', 'a', { data: { output: { task_id: 'b' } } }],
		['task', 'a', { task_id: 'b', request_id: 'a' }],
		['task', 'task_1', { task_id: 'other_task_1' }],
		['task', '42', { task_id: 43 }],
		// Leading zeros are ignored in numbers only.
		['task', '101', { task_id: 11 }],
		['task', '007a', { task_id: '7a' }],
		['task', '9007199254740993', { task_id: '9007199254740992' }],
		['video', 'a', { id: 'b' }],
		['video', 'a', { video_id: 'b' }],
		['video', 'a', { data: { video_id: 'b' } }],
		['video', 'a', { id: 'b', task_id: 'c' }],
	])('refuses a response that is certainly about another %s: %s, %j', (kind, id, body) => {
		expect(isAccepted(kind, id, body)).toBe(false);
	});
});
