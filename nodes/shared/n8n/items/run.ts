import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { AdaptiveLimit } from '../../gateway/client/adaptiveLimit';
import { recipientOf } from '../agent/recipient';
import { createGateway } from '../client/gateway';
import { signedLinkOf } from '../files/binary';
import { checkAll } from './check';
import { ItemOrders } from './orders';
import { previewAll } from './preview';
import { RunState } from './runState';
import { sendAll } from './send';
import { settle } from './settle';
import type { DeliveringWork, DirectWork, ItemOutput, ItemWork } from './work';

/** Milliseconds that a paid request may still take after Stop, so that its job or text is kept. */
const graceOnStop = 5_000;

/**
 * The item loop of all operations: check, open, send, close, settle. It checks every item, so that nothing is paid for
 * when one of them cannot work; opens the orders, which finds what other tries have paid for; and sends the rest in
 * parallel. When the node is about to fail, paid requests in flight may finish. Then it records what became of the
 * orders, and gives the outputs.
 * @param parallel maximum number of items in flight
 */
export async function runItems(
	context: IExecuteFunctions,
	work: ItemWork,
	parallel: number,
): Promise<INodeExecutionData[][]> {
	return [await runSteps(context, work.deliver ? work : delivering(work), parallel)];
}

/** Adds a `deliver` that passes the outputs of the request on. */
function delivering(work: DirectWork): DeliveringWork<unknown, ItemOutput[]> {
	return { ...work, deliver: async (outputs) => outputs };
}

async function runSteps(
	context: IExecuteFunctions,
	work: DeliveringWork,
	parallel: number,
): Promise<INodeExecutionData[]> {
	const run = new RunState(context, work);
	let orders: ItemOrders | undefined;
	const abort = () => run.abort();
	run.stop?.addEventListener('abort', abort, { once: true });
	try {
		const limiter = new AdaptiveLimit(parallel);
		const gateway = await createGateway(context, { limiter, graceOnStop, closing: run.closing });
		const checked = await checkAll(run, gateway);
		if (!run.isFailing) {
			if (run.cost !== 'read') orders = new ItemOrders(run, gateway.connection);
			await orders?.open(checked);
			await previewAll(run, checked, gateway);
			await sendAll(run, checked, { gateway, limiter, orders });
		}
	} catch (error) {
		// The credential is missing or unusable, which fails every item.
		for (const item of run.items) run.fail(item, error);
	} finally {
		run.stop?.removeEventListener('abort', abort);
	}
	await orders?.close();
	const recipient = recipientOf(context, (file) => signedLinkOf(file, context));
	return await settle(run, recipient);
}
