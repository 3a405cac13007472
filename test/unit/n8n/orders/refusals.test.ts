import { Line } from '../../../../nodes/shared/n8n/orders/line';
import { refusal } from '../../../../nodes/shared/n8n/orders/refusals';
import type { Order } from '../../../../nodes/shared/n8n/orders/order';
import { executeContext } from '../../../support/workflows/executeContext';

const order = {
	id: 'A',
	request: 'A',
	count: 0,
	run: 0,
	source: 'S',
	parameters: 'node',
	timesSent: 1,
};
const sent: Order = { ...order, state: 'sent' };
const answered = (id?: string): Order => ({
	...order,
	state: 'answered',
	result: {},
	hints: [],
	...(id !== undefined && { job: { id } }),
});
const inLog = /It may have been accepted and may be running\. Look for the ID of its job/;

describe('the refusal of an order that may be an earlier one in other words', () => {
	it.each<[string, Order[], RegExp, string | undefined]>([
		['without a known job', [], inLog, undefined],
		['of which only the sending is known', [sent], inLog, undefined],
		['of which the job is not known', [answered()], inLog, undefined],
		['with one job', [sent, answered('task_1')], /with Wait for Video: task_1\.$/, 'task_1'],
		['with two', [answered('a'), answered('b')], /with Wait for Video: a; b\.$/, 'a'],
	])('names what it knows of the earlier orders: %s', (_, entries, advice, id) => {
		const run = {
			context: executeContext(),
			otherJobs: [],
			usedBefore: () => undefined,
			useOfKey: () => undefined,
			storeFailure: undefined,
		};
		const { failure } = refusal('reworded', new Line(0), run, entries);
		expect(failure.advice).toMatch(advice);
		expect(failure).toMatchObject({ billed: 'unknown', retry_can_help: false });
		expect(failure.job).toEqual(id === undefined ? undefined : { id });
		const ofLoop = { ...run, otherJobs: [{ id: 'task_9' }] };
		const all = refusal('reworded', new Line(0), ofLoop, entries);
		expect(all.failure.advice).toMatch(/Collect these jobs with Wait for Video: .*task_9\.$/);
	});
});
