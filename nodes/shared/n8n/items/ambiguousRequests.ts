/** The failures of requests whose outcome is unknown, and which may have been billed. */
import {
	GatewayError,
	stopped,
	type Failure,
	type Remedy,
} from '../../gateway/errors/gatewayError';
import { failureOf, type Item } from './item';

/** The failure of a job creation in flight at Stop, until its response comes or the grace period ends. */
export const sentBeforeStop: Failure = {
	...stopped().failure,
	remedies: [
		{
			about: 'other',
			text: 'The job may have been accepted and may be running. Look into the billing log of the service.',
		},
	],
	billed: 'unknown',
};

/** What is to be known about an order that no retry sends again. @param key its Order Key */
export const alreadySent = (key?: string) =>
	({
		about: 'other',
		text: `An earlier try has sent this already: a retry does not send it again, because that could be paid twice. To have it sent, ${key === undefined ? '' : 'run this node once with Forget Order Key, then '}execute the workflow anew.`,
	}) as const satisfies Remedy;

/** The error of a request that an earlier try has sent, with unknown outcome. */
export function alreadySentError(
	{ isStopped, message, remedies, ...failure }: Failure,
	key?: string,
): GatewayError {
	const told = alreadySent(key);
	const others = remedies.filter(
		(remedy) => !(remedy.about === 'other' && remedy.text === told.text),
	);
	return new GatewayError({
		...failure,
		message: isStopped ? 'An earlier try was stopped before its answer came' : message,
		remedies: [...others, told],
		reach: 'unreadable',
		retry_can_help: false,
	});
}

/** Earlier tries may have sent this: what they kept cannot be read. @param key its Order Key */
export const unreadableError = (key?: string) =>
	new GatewayError({
		message:
			'Nothing was sent, because what earlier tries of this execution have paid for cannot be read',
		remedies: [
			{
				about: 'other',
				text: 'A newer version of n8n-nodes-model-gateway has stored it, or it is damaged. Install the newest version, and press Retry. The IDs of created jobs are in n8n\'s log ("was created"): Wait for Video collects them.',
			},
			alreadySent(key),
		],
		reach: 'none',
		status: 0,
		billed: 'unknown',
		retry_can_help: false,
	});

/** Whether something paid for may be under way: after a lost answer or a stopped wait, but not after a failed job. */
function isOpen({ billed, reach, isStopped }: Failure): boolean {
	return billed === 'unknown' && (reach !== 'none' || isStopped === true);
}

/** The error of a stopped node: requests whose outcome is unknown take precedence. */
export function stoppedError(items: Item[]): { error: GatewayError; item?: number } {
	const ambiguous = items.flatMap((item) => {
		const error = failureOf(item)?.error;
		const isAmbiguous = error instanceof GatewayError && isOpen(error.failure);
		return isAmbiguous ? [{ item: item.index, error }] : [];
	});
	const [first, ...others] = ambiguous;
	if (first === undefined) return { error: stopped() };
	if (others.length === 0) return first;
	const { remedies } = first.error.failure;
	const text = `So it is with items ${others.map(({ item }) => item).join(', ')}.`;
	return {
		...first,
		error: first.error.with({ remedies: [...remedies, { about: 'other', text }] }),
	};
}
