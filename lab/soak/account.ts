import type { IDataObject } from 'n8n-workflow';
import type { Order } from './orders';
import type { Books } from './service';

/** The outcome of all orders so far, as the nodes reported it. */
export class Account {
	orders = 0;
	/** Ordered, and not ended yet. */
	underWay = 0;
	delivered = 0;
	/** Jobs with a wrong file, in words. */
	readonly wrongFiles: string[] = [];
	/** The gaps of the outputs, in words. */
	readonly lost: string[] = [];
	/** Errors of creates, by what they say about charges. */
	readonly refused = { no: 0, unknown: 0, yes: 0 };
	/** Waits that ended in an error, and were started again by the job ID. */
	collectedAgain = 0;
	/** Files in n8n's storage other than those of the outputs. */
	strayFiles = 0;
	/** Job IDs in the outputs of creates. */
	readonly known = new Set<string>();
	/** How often each error was reported. */
	readonly errors = new Map<string, number>();
	private readonly reported = new Set<string>();

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

	/** Errors and losses that have not been reported yet. */
	newTroubles(): string[] {
		const all = [...this.lost, ...this.wrongFiles];
		return all.filter((trouble) => !this.reported.has(trouble) && this.reported.add(trouble));
	}

	/** Compares what the nodes reported with what the service knows. */
	audit({ charges, responded }: Pick<Books, 'charges' | 'responded'>): Audit {
		const numbers = charges.map(({ number }) => number);
		return {
			chargedTwice: numbers.length - new Set(numbers).size,
			unknown: charges.filter(({ job }) => !this.known.has(job)).length,
			missing: responded.filter((job) => !this.known.has(job)),
			notCharged: [...this.known].filter((id) => !charges.some(({ job }) => job === id)).length,
		};
	}
}

interface Audit {
	chargedTwice: number;
	/** Charged, but in no output: the response to the create was lost. */
	unknown: number;
	/** In a response of the service, but in no output. */
	missing: string[];
	/** In an output, but never charged. */
	notCharged: number;
}
