import { processedItems } from '../../harness';

/** A call of n8n's store, by any execution. */
interface StoreCall {
	/** Counted from 1. */
	at: number;
	/** Before the store reads, or once it is written. */
	when: 'before' | 'after';
}

/** Acts at a call of n8n's store. It fails when the action throws. @returns a function that ends this */
export function atStoreCall({ at, when }: StoreCall, act: () => void): () => void {
	let left = at;
	return onStoreCalls(when, () => void (--left === 0 && act()));
}

/** Acts at each call of n8n's store, until the store is cleared. @returns a function that ends this */
export function onStoreCalls(when: StoreCall['when'], act: () => void): () => void {
	let isEnded = false;
	const own = (earlier: (call: 'record' | 'remove') => Promise<void> | void) => {
		return async (call: unknown) => {
			await earlier(call as 'record');
			if (!isEnded) act();
		};
	};
	if (when === 'before') processedItems.precede = own(processedItems.precede);
	else processedItems.intercept = own(processedItems.intercept);
	return () => void (isEnded = true);
}
