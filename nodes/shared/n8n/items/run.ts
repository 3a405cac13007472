import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { AdaptiveLimit } from '../../service/client/adaptiveLimit';
import { createGateway, type N8nGateway } from '../client/gateway';
import { NodeLog } from '../log/nodeLog';
import { checkAll } from './check';
import { lookAtFiles } from './look';
import { noteLimits, openOrders } from './orders';
import { previewAll } from './preview';
import { RunState } from './runState';
import { sendAll } from './send';
import { settle } from './settle';
import type { ItemWork } from './work';

/** Milliseconds that a paid request may still take after Stop, so that its job or text is not lost. */
const graceOnStop = 5_000;

/**
 * The item loop of all operations:
 * 1. check every item, so that nothing is charged when one of them cannot work;
 * 2. look at the files that the service will fetch;
 * 3. open the orders, which finds what other tries were charged for;
 * 4. send the rest in parallel; when the node is about to fail, paid requests in flight may still finish;
 * 5. close the orders, which records their outcomes;
 * 6. settle: give the outputs, or throw the error of the node.
 * @param parallel maximum number of items in flight
 */
export async function runItems(
	context: IExecuteFunctions,
	work: ItemWork,
	parallel: number,
): Promise<INodeExecutionData[][]> {
	const run = new RunState(context, work);
	await withGateway(run, parallel, async (gateway, limiter) => {
		await checkAll(run, gateway);
		if (!run.isFailing) await lookAtFiles(run, gateway);
		if (run.isFailing || run.isStopped) return;
		if (run.cost !== 'read') await openOrders(run, gateway.connection);
		await previewAll(run, gateway);
		await sendAll(run, gateway, limiter);
	});
	const { ledger } = run;
	// A loop that fails here never reaches the items of these jobs, which n8n may not have stored.
	const otherJobs = (run.isFailing && ledger?.otherJobs) || [];
	await ledger?.close({ hasSucceeded: run.failures.length === 0 && !run.isStopped });
	if (ledger) noteLimits(run, ledger);
	return [await settle(run, otherJobs)];
}

/** Takes the steps of a loop, until Stop aborts them. @param parallel maximum number of items in flight */
export async function withGateway(
	run: RunState,
	parallel: number,
	steps: (gateway: N8nGateway, limiter: AdaptiveLimit) => Promise<void>,
): Promise<void> {
	const { context, closing } = run;
	const abort = () => run.abort();
	run.stop?.addEventListener('abort', abort, { once: true });
	try {
		const limiter = new AdaptiveLimit(parallel);
		const gateway = await createGateway(context, { limiter, graceOnStop, closing });
		run.log = new NodeLog(context, gateway.redaction);
		await steps(gateway, limiter);
	} catch (error) {
		// Without a usable credential, every item fails.
		for (const item of run.items) item.outcome = [run.fail(item, error)];
	} finally {
		run.stop?.removeEventListener('abort', abort);
	}
}
