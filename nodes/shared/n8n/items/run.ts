import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { AdaptiveLimit } from '../../gateway/client/adaptiveLimit';
import { recipientOf } from '../agent/recipient';
import { createGateway } from '../client/gateway';
import { signedLinkOf } from '../files/binary';
import { NodeLog } from '../log/nodeLog';
import { checkAll } from './check';
import { ItemOrders } from './orders';
import { previewAll } from './preview';
import { RunState } from './runState';
import { sendAll } from './send';
import { settle } from './settle';
import type { DeliveringWork, DirectWork, ItemOutput, ItemWork } from './work';

/** Milliseconds that a paid request may still take after Stop, so that its job or text is not lost. */
const graceOnStop = 5_000;

/**
 * The item loop of all operations:
 * 1. check every item, so that nothing is charged when one of them cannot work;
 * 2. open the orders, which finds what other tries were charged for;
 * 3. send the rest in parallel; when the node is about to fail, paid requests in flight may still finish;
 * 4. close the orders: record their outcomes;
 * 5. settle: give the outputs, or throw the error of the node.
 * @param parallel maximum number of items in flight
 */
export async function runItems(
	context: IExecuteFunctions,
	work: ItemWork,
	parallel: number,
): Promise<INodeExecutionData[][]> {
	return [await runSteps(context, work.deliver ? work : withDeliver(work), parallel)];
}

/** Adds a `deliver` that returns the outputs of the request as they are. */
function withDeliver(work: DirectWork): DeliveringWork<unknown, ItemOutput[]> {
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
		run.log = new NodeLog(context, gateway.redaction);
		const checked = await checkAll(run, gateway);
		if (!run.isFailing) {
			if (run.cost !== 'read') orders = new ItemOrders(run, gateway.connection);
			await orders?.open(checked);
			await previewAll(run, checked, gateway);
			await sendAll(run, checked, { gateway, limiter, orders });
		}
	} catch (error) {
		// Without a usable credential, every item fails.
		for (const item of run.items) run.fail(item, error);
	} finally {
		run.stop?.removeEventListener('abort', abort);
	}
	await orders?.close();
	const recipient = recipientOf(context, (file) => signedLinkOf(file, context));
	return await settle(run, recipient);
}
