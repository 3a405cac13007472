import { GatewayError } from '../errors/gatewayError';
import type { Idempotency } from './idempotency';

/** The tries of one call that the service may have accepted. No later refusal undoes them. */
export class UnclearTries {
	/** The failure of the first of them, which may be that of an earlier call for the same order. */
	first?: GatewayError;
	private count = 0;
	/** How many requests are counted as orders: the first one was, before this call. */
	private counted = 1;

	constructor(private readonly idempotency: Idempotency) {
		const { earlierFailure } = idempotency;
		this.first = earlierFailure && new GatewayError(earlierFailure);
	}

	add(error: GatewayError): void {
		if (error.failure.billed !== 'unknown') return;
		this.first ??= error;
		this.count++;
	}

	/** Another try got its response. */
	succeed(): void {
		const { idempotencyKey, sentTwice } = this.idempotency;
		if (this.count > 0 && idempotencyKey === undefined) sentTwice?.();
	}

	/** Counts the next try as another order. @throws GatewayError the first failure, when there must be no other */
	async countResend(): Promise<void> {
		const { idempotencyKey, countResend } = this.idempotency;
		if (!this.first || this.count < this.counted || idempotencyKey !== undefined) return;
		const advice = await countResend?.();
		if (advice !== undefined) throw this.errorOf(this.first).with({ advice });
		this.counted++;
	}

	/** The error of the call whose last try failed like this: an earlier one may have been accepted all the same. */
	errorOf(error: GatewayError): GatewayError {
		if (!this.first) return error;
		const { billed, cost, idempotencyKey, retry_can_help: firstCanHelp } = this.first.failure;
		const retry_can_help = error.failure.retry_can_help && firstCanHelp;
		return error.with({ billed, cost, idempotencyKey, requests: this.count, retry_can_help });
	}
}
