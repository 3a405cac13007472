import type { IWorkflowBase } from 'n8n-workflow';
import { forAll, print, type Figure } from '../../report';
import { isOpen, type Execution } from '../../../test/n8n/owner';
import { until } from '../../../test/support/time/until';
import { chargesOf } from '../../../test/n8n/charges';
import { deliveriesOf } from '../../../test/n8n/sink';
import { patience } from '../arrange';
import type { Deployment } from '../deployment';

/** Waits until all executions of a workflow have ended. @returns them, the oldest first */
export async function ended(
	deployment: Deployment,
	workflow: IWorkflowBase,
	seconds = patience,
): Promise<Execution[]> {
	await until(async () => {
		const executions = await deployment.executions(workflow);
		return executions.length > 0 && !executions.some(isOpen);
	}, seconds);
	const executions = await deployment.executions(workflow);
	return await Promise.all(executions.map(async ({ id }) => await deployment.owner.execution(id)));
}

/** Prints the error that a user sees in an execution. */
export function printError({ status, data }: Execution): void {
	const { message, description } = (data.resultData.error ?? {}) as {
		message?: string;
		description?: string | null;
	};
	print(`  ${status}: ${message ?? 'no error'}`);
	if (description) print(`    ${description}`);
}

/** Figures: whether all videos were delivered and charged once. */
export function onceEach(
	{ gateway, sink }: Pick<Deployment, 'gateway' | 'sink'>,
	title: string,
	names: string[],
): Figure[] {
	const once = (count: (name: string) => number) =>
		names.filter((name) => count(name) === 1).length;
	const delivered = once((name) => deliveriesOf(gateway, sink.deliveries, name));
	const charged = once((name) => chargesOf(gateway, name));
	return [
		forAll(`${title}: delivered once`, delivered, names.length),
		forAll(`${title}: charged once`, charged, names.length),
	];
}
