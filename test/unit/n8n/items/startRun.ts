import { AdaptiveLimit } from '../../../../nodes/shared/gateway/client/adaptiveLimit';
import { GatewayError, type Reach } from '../../../../nodes/shared/gateway/errors/gatewayError';
import { endpoints } from '../../../../nodes/shared/gateway/protocol/endpoints';
import { createGateway } from '../../../../nodes/shared/n8n/client/gateway';
import { checkAll } from '../../../../nodes/shared/n8n/items/check';
import { planAll } from '../../../../nodes/shared/n8n/items/orders';
import { RunState } from '../../../../nodes/shared/n8n/items/runState';
import { sendAll } from '../../../../nodes/shared/n8n/items/send';
import type { DeliveringWork } from '../../../../nodes/shared/n8n/items/work';
import { executeContext, type Execution } from '../../../support/workflows/executeContext';

type Work = DeliveringWork<number, { order: number }>;

/** Each item orders its own number. */
export const orders: Work = {
	endpoint: endpoints.videoCreate,
	prepare: ({ item }) => item,
	perform: async (order) => ({ order }),
	deliver: async ({ order }) => [{ json: { order } }],
};

export const failed = (message: string, reach: Reach = 'answered') =>
	new GatewayError({
		...{ message, reach, status: 0, retry_can_help: false },
		billed: reach === 'lost' ? 'unknown' : 'no',
	});

/** A run whose steps the test calls itself. */
export async function startRun(work: Partial<Work>, execution: Execution) {
	const context = executeContext(execution);
	const run = new RunState(context, { ...orders, ...work } as DeliveringWork);
	const gateway = await createGateway(context);
	/** @returns the outcome of each item, in order */
	const send = async () => {
		const { items, ended } = await planAll(run, await checkAll(run, gateway));
		const sent = await sendAll(run, items, { gateway, limiter: new AdaptiveLimit(10) });
		const all = [...ended, ...sent].sort((one, other) => one.item.index - other.item.index);
		return all.map(({ outcome }) => outcome);
	};
	return { run, send };
}

export const messages = ({ failures }: RunState) => failures.map(({ error }) => String(error));
