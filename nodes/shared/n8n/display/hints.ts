import type { IExecuteFunctions } from 'n8n-workflow';
import { oneLine } from '../../service/oneLine';
import { asHtml } from './plainText';

/** Shows a hint with the node's output. The only way to do so: a hint may quote the service, the input or a file. */
export function showHint(
	context: Pick<IExecuteFunctions, 'addExecutionHints'>,
	message: string,
): void {
	context.addExecutionHints({ message: asHtml(oneLine(message)), location: 'outputPane' });
}
