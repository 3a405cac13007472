/** What to say of requests that may have been paid for, and of which nobody knows. */
import {
	GatewayError,
	stopped,
	type Failure,
	type Remedy,
} from '../../gateway/errors/gatewayError';
import { failureOf, type Item } from './item';

/** What an order under way leaves at Stop, until its answer comes or the time for it is over. */
export const orderedBeforeStop: Failure = {
	...stopped().failure,
	remedies: [
		{
			about: 'other',
			text: 'The job may have been accepted and may be running. Look into the billing log of the service.',
		},
	],
	billed: 'unknown',
};

const alreadySent = {
	about: 'other',
	text: 'An earlier try has sent this already: a retry does not send it again, because that could be paid twice. To have it sent, execute the workflow anew.',
} as const satisfies Remedy;

/** An earlier try has sent this, and what became of it is not known. */
export function alreadySentError({
	isStopped,
	message,
	remedies,
	...failure
}: Failure): GatewayError {
	const others = remedies.filter(
		(remedy) => !(remedy.about === 'other' && remedy.text === alreadySent.text),
	);
	return new GatewayError({
		...failure,
		message: isStopped ? 'An earlier try was stopped before its answer came' : message,
		remedies: [...others, alreadySent],
		reach: 'unreadable',
		retry_can_help: false,
	});
}

/** Why a stopped node ends: what Stop left in doubt goes before all else. */
export function stoppedError(items: Item[]): { error: GatewayError; item?: number } {
	const doubtful = items.flatMap((item) => {
		const error = failureOf(item)?.error;
		const isOpen = error instanceof GatewayError && error.failure.billed === 'unknown';
		return isOpen ? [{ item: item.index, error }] : [];
	});
	const [first, ...others] = doubtful;
	if (first === undefined) return { error: stopped() };
	if (others.length === 0) return first;
	const { remedies } = first.error.failure;
	const text = `So it is with items ${others.map(({ item }) => item).join(', ')}.`;
	return {
		...first,
		error: first.error.with({ remedies: [...remedies, { about: 'other', text }] }),
	};
}
