import type { JobKind } from '../../nodes/shared/gateway/protocol/jobs';
import { ServiceError } from './errors';

/** What a key may do. Everything left out is unlimited. */
export interface KeyOptions {
	/** The models that the key's group may use. */
	models?: string[];
	/** How many charges the balance pays for. */
	balance?: number;
}

/** What is paid for: a job when it is created, any other call when its answer has been sent in full. */
export interface Purchase {
	kind: JobKind | 'chat' | 'message' | 'embedding' | 'image';
	/** The job's id; other calls make none. */
	job?: string;
	model: string;
	/** How much, in the unit by which the model is billed. */
	quantity: number;
	unit: 'video' | 'token' | 'image';
}

/** A line of the console's billing log: failed calls are not in it. */
export interface Charge extends Purchase {
	key: string;
	requestId: string;
	/** Milliseconds since 1970. */
	at: number;
}

/** One key, and what it has used. */
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

	/** Throws when the balance does not last for one more charge. */
	requireBalance(): void {
		const { balance } = this.options;
		if (balance === undefined) return;
		const used = this.ledger.filter(({ key }) => key === this.key).length;
		if (used + this.held >= balance) throw new ServiceError(429, 'quota_exceeded');
	}

	/** Sets one charge of the balance aside. Gives what sets it free. */
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

	/** "Authentication" 1 and 2: the account of an Authorization header, or a 401. */
	authenticate(header = ''): Account {
		const scheme = 'Bearer ';
		const account = header.startsWith(scheme) && this.accounts.get(header.slice(scheme.length));
		if (account) return account;
		throw new ServiceError(401, 'invalid_api_key');
	}
}
