import type { IExecuteFunctions } from 'n8n-workflow';
import { oneLine } from '../../service/oneLine';
import { asHtml } from './plainText';

/** The only way to show a hint: it may quote the service, the input or a file. */
export function showHint(
	context: Pick<IExecuteFunctions, 'addExecutionHints'>,
	message: string,
): void {
	context.addExecutionHints({ message: asHtml(oneLine(message)), location: 'outputPane' });
}
