import type { IExecuteFunctions } from 'n8n-workflow';
import {
	progressHint,
	workflowTimeoutHint,
} from '../../../../nodes/ModelGatewayWaitForVideo/hints';
import { nextPollOf, type StoredItem } from '../../../../nodes/ModelGatewayWaitForVideo/state';
import { startWait } from '../../../../nodes/shared/service/jobs/pollerState';
import { describeSpan } from '../../../../nodes/shared/n8n/items/span';
import type { RunState } from '../../../../nodes/shared/n8n/items/runState';

describe('a list of 200,000 jobs', () => {
	// A call takes about 125,000 arguments.
	const indices = Array.from({ length: 200_000 }, (_, index) => index);
	const items = new Map(
		indices.map((index): [number, StoredItem] => {
			const timeout = 60_000 * (index === 7 ? 30 : 20);
			const poller = startWait({ id: `job_${index}` }, { now: 1_000 + index, timeout });
			const begun = { request: { timeout } as never, hints: [] };
			return [index, { name: 'waiting', poller, begun }];
		}),
	);

	it('has a next poll, a hint and a span', () => {
		expect(nextPollOf(items)).toBe(1_000);
		const forecast = { waited: 60, isOverdue: false, text: '' };
		expect(progressHint(items, () => forecast)).toContain('0 of 200000 ready after 60 seconds.');
		const context = { getWorkflowSettings: () => ({ executionTimeout: 60 }) } as IExecuteFunctions;
		expect(workflowTimeoutHint(context, items)).toContain('its own Timeout of 30 min');
		const setMetadata = jest.fn();
		const run = {
			context: { setMetadata },
			items: indices.map((index) => ({ job: { id: 'job_1' }, waitedSeconds: index })),
			log: { clean: (text: string) => text },
		};
		describeSpan(run as never as RunState);
		const tracing = expect.objectContaining({ job_id: 'job_1', waited_seconds: 199_999 }) as object;
		expect(setMetadata).toHaveBeenCalledWith({ tracing });
	});
});
