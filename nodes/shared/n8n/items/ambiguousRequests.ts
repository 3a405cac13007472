/** What to say of requests that may have been paid for, and of which nobody knows. */
import { canceled, GatewayError, type ErrorRecord } from '../../gateway/errors/gatewayError';
import { failureOf, type Item } from './item';

/** What an order under way leaves at Stop, until its answer comes or the time for it is over. */
export const orderedBeforeStop: ErrorRecord = {
	...canceled().record,
	advice:
		'The job may have been accepted and may be running. Look into the billing log of the service.',
	billed: 'unknown',
};

const sentAlready =
	'An earlier try has sent this already: a retry does not send it again, because that could be paid twice. To have it sent, execute the workflow anew.';

/** An earlier try has sent this, and what became of it is not known. */
export function alreadySentError({ advice, ...record }: ErrorRecord): GatewayError {
	const told = advice.includes(sentAlready) ? advice : `${advice} ${sentAlready}`;
	// By its message, n8n would take this try for one that was stopped too.
	const isStop = record.message === canceled().message;
	const message = isStop ? 'An earlier try was stopped before its answer came' : record.message;
	return new GatewayError(
		{ ...record, message, advice: told, retry_can_help: false },
		'unreadable',
	);
}

/** Why a stopped node ends: what Stop left in doubt goes before all else. */
export function stoppedError(items: Item[]): { error: GatewayError; item?: number } {
	const doubtful = items.flatMap((item) => {
		const error = failureOf(item)?.error;
		const isOpen = error instanceof GatewayError && error.record.billed === 'unknown';
		return isOpen ? [{ item: item.index, error }] : [];
	});
	const [first, ...others] = doubtful;
	if (first === undefined) return { error: canceled() };
	const { record, reach } = first.error;
	const also =
		others.length > 0 ? ` So it is with items ${others.map(({ item }) => item).join(', ')}.` : '';
	const error = new GatewayError({ ...record, advice: record.advice + also }, reach);
	return { error, item: first.item };
}
