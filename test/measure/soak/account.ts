import type { IDataObject } from 'n8n-workflow';
import type { Order } from './orders';
import type { Books } from './service';

/** What has become of all orders so far, as the nodes told it. */
export class Account {
	orders = 0;
	/** Ordered, and not ended yet. */
	underWay = 0;
	delivered = 0;
	/** Jobs whose file is another one, in words. */
	readonly wrongFiles: string[] = [];
	/** What is missing from the outputs, in words. */
	readonly lost: string[] = [];
	/** Errors of creates, by what they say about money. */
	readonly refused = { no: 0, unknown: 0, yes: 0 };
	/** Waits that ended in an error, and were begun again by the job's id. */
	collectedAgain = 0;
	/** Files in n8n's store beyond those of the outputs. */
	strayFiles = 0;
	/** Ids of jobs that came out of a create. */
	readonly reached = new Set<string>();
	/** How often each error was told. */
	readonly errors = new Map<string, number>();
	private readonly told = new Set<string>();

	began(orders: Order[]): void {
		this.orders += orders.length;
		this.underWay += orders.length;
	}

	ended(orders: Order[]): void {
		this.underWay -= orders.length;
	}

	notCreated(json: IDataObject): void {
		const { billed } = json.details as { billed: keyof Account['refused'] };
		this.refused[billed]++;
		this.failed(json);
	}

	failed({ error }: IDataObject): void {
		const kind = String(error).replace(/(task|video)_[\w-]+/g, '$1_…');
		this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1);
	}

	/** What is wrong or lost and has not been told yet. */
	newTroubles(): string[] {
		const all = [...this.lost, ...this.wrongFiles];
		return all.filter((trouble) => !this.told.has(trouble) && this.told.add(trouble));
	}

	/** Compares what the nodes told with what the service knows. */
	audit({ charges, told }: Pick<Books, 'charges' | 'told'>): Audit {
		const numbers = charges.map(({ number }) => number);
		return {
			chargedTwice: numbers.length - new Set(numbers).size,
			untold: charges.filter(({ job }) => !this.reached.has(job)).length,
			forgotten: told.filter((job) => !this.reached.has(job)),
			unpaid: [...this.reached].filter((id) => !charges.some(({ job }) => job === id)).length,
		};
	}
}

interface Audit {
	chargedTwice: number;
	/** Charged, by a create whose response was lost. */
	untold: number;
	/** Told by the service, and in no output. */
	forgotten: string[];
	/** In an output, and made by nobody. */
	unpaid: number;
}
