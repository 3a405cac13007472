import { GatewayError, type Remedy } from '../../gateway/errors/gatewayError';
import { excerpt } from '../../gateway/json';

/** In the words of the system, or of a database. */
const full = /ENOSPC|EDQUOT|no space left|disk full/i;

/** Why n8n could not keep a file; continues "n8n could not store it: …". It names the setting that helps, if one does. */
export const storeProblem = (error: unknown): string =>
	excerpt(error instanceof Error ? error.message : String(error), 500);

/**
 * The failure of a file that is paid for, and was received, but that n8n could not keep.
 * @param error of n8n
 * @param purpose continues "Could not …"
 * @param remedies what to do besides
 */
export function storeError(error: unknown, purpose: string, remedies: Remedy[]): GatewayError {
	const problem = storeProblem(error);
	return new GatewayError({
		message: `Could not ${purpose}: n8n could not store it: ${problem}`,
		remedies: [{ about: 'notStored', isFull: full.test(problem) }, ...remedies],
		reach: 'none',
		status: 0,
		billed: 'yes',
		retry_can_help: true,
	});
}
