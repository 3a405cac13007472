import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { AdaptiveLimit } from '../../gateway/client/adaptiveLimit';
import { recipientOf } from '../agent/recipient';
import { createGateway } from '../client/gateway';
import { signedLinkOf } from '../files/binary';
import { checkAll } from './check';
import { PaidItems } from './paidItems';
import { RunState } from './runState';
import { sendAll } from './send';
import { settle } from './settle';
import type { DeliveringWork, DirectWork, ItemOutput, ItemWork } from './work';

/** In milliseconds: for the answer to what may have been paid for, whose job or text is kept then. */
const graceOnStop = 5_000;

/**
 * The one item loop of the package. First every item is checked, so that nothing is paid when one of
 * them cannot work; then they are sent side by side. When the node is about to fail, paid requests
 * under way are let finish, and all that was paid is kept in receipts for the next try.
 * @param parallel items in flight at most
 */
export async function runItems(
	context: IExecuteFunctions,
	work: ItemWork,
	parallel: number,
): Promise<INodeExecutionData[][]> {
	return [await runSteps(context, work.deliver ? work : delivering(work), parallel)];
}

/** Work whose request gives the outputs has nothing more to do to deliver them. */
function delivering(work: DirectWork): DeliveringWork<unknown, ItemOutput[]> {
	return { ...work, deliver: async (outputs) => outputs };
}

async function runSteps(
	context: IExecuteFunctions,
	work: DeliveringWork,
	parallel: number,
): Promise<INodeExecutionData[]> {
	const run = new RunState(context, work);
	const paidItems = run.cost === 'read' ? undefined : new PaidItems(run);
	const abort = () => run.abort();
	run.stop?.addEventListener('abort', abort, { once: true });
	try {
		const limiter = new AdaptiveLimit(parallel);
		const gateway = await createGateway(context, { limiter, graceOnStop });
		const checked = await checkAll(run, gateway);
		if (!run.isFailing) {
			paidItems?.recall(checked);
			await sendAll(run, checked, { gateway, parallel });
		}
	} catch (error) {
		// The credential is missing or unusable: that is every item's error.
		for (const item of run.items) run.fail(item, error);
	} finally {
		run.stop?.removeEventListener('abort', abort);
	}
	paidItems?.settle();
	const recipient = recipientOf(context, (file) => signedLinkOf(file, context));
	return settle(run, recipient);
}
