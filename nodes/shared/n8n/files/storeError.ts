import { GatewayError, type Failure } from '../../service/errors/gatewayError';
import { excerpt } from '../../service/json';

/** Matches errors of operating systems and databases. */
const noSpaceLeft = /ENOSPC|EDQUOT|no space left|disk full/i;

/** Why n8n could not store a file, in n8n's words; continues "n8n could not store it: …". */
export const storeProblem = (error: unknown): string =>
	excerpt(error instanceof Error ? error.message : String(error), 500);

/**
 * The failure of a file that was charged and received, but that n8n could not store.
 * @param error n8n's error
 * @param purpose continues "Could not …"
 */
export function storeError(error: unknown, purpose: string, made: Failure['made']): GatewayError {
	const problem = storeProblem(error);
	return new GatewayError({
		message: `Could not ${purpose}: n8n could not store it: ${problem}`,
		kind: noSpaceLeft.test(problem) ? 'noSpace' : 'notStored',
		made,
		billed: 'yes',
		retry_can_help: true,
	});
}
