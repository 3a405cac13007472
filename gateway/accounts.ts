import type { JobKind } from '../nodes/shared/service/protocol/jobs';
import { ServiceError } from './errors';

/** The rights of a key. A field that is left out sets no limit. */
export interface KeyOptions {
	/** The models that the key's group may use. */
	models?: string[];
	/** The number of charges that the balance covers. */
	balance?: number;
}

/** Charges: for a job when it is created, for any other call when its response has been sent in full. */
export interface Purchase {
	kind: JobKind | 'chat' | 'message' | 'embedding' | 'image';
	/** The ID of the job; other calls have none. */
	job?: string;
	model: string;
	/** The amount, in the unit by which the model is charged. */
	quantity: number;
	unit: 'video' | 'token' | 'image';
}

/** A line of the console's billing log, which does not list failed calls. */
export interface Charge extends Purchase {
	key: string;
	requestId: string;
	/** Milliseconds since 1970. */
	at: number;
}

/** One key, and its charges. */
export class Account {
	/** Calls under way that will be charged when they succeed. */
	private held = 0;

	constructor(
		readonly key: string,
		private readonly options: KeyOptions,
		private readonly ledger: Charge[],
		private readonly now: () => number,
	) {}

	mayUse(model: string): boolean {
		return this.options.models?.includes(model) ?? true;
	}

	requirePermission(model: string): void {
		if (this.mayUse(model)) return;
		const message = "the key's group has no permission for this model";
		throw new ServiceError(403, 'permission_denied', message, { param: 'model' });
	}

	/** Throws when the balance does not cover another charge. */
	requireBalance(): void {
		const { balance } = this.options;
		if (balance === undefined) return;
		const used = this.ledger.filter(({ key }) => key === this.key).length;
		if (used + this.held >= balance) throw new ServiceError(429, 'quota_exceeded');
	}

	/** Reserves one charge of the balance. @returns releases it */
	hold(): () => void {
		this.requireBalance();
		this.held++;
		return () => {
			this.held--;
		};
	}

	charge(purchase: Purchase, requestId: string): void {
		this.ledger.push({ ...purchase, key: this.key, requestId, at: this.now() });
	}
}

/** All keys of the service, and its billing log. */
export class Accounts {
	readonly ledger: Charge[] = [];
	private readonly accounts: Map<string, Account>;

	constructor(keys: Record<string, KeyOptions>, now: () => number) {
		this.accounts = new Map(
			Object.entries(keys).map(([key, options]) => [
				key,
				new Account(key, options, this.ledger, now),
			]),
		);
	}

	/**
	 * "Authentication" 1 and 2: the account of an Authorization header, or a 401. The scheme may be in any letter case
	 * (RFC 9110, 11.1).
	 */
	authenticate(header = ''): Account {
		const [, key = ''] = /^bearer +(.*)$/i.exec(header) ?? [];
		const account = this.accounts.get(key);
		if (account) return account;
		throw new ServiceError(401, 'invalid_api_key');
	}
}
