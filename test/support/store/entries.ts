import type { IExecuteFunctions } from 'n8n-workflow';
import { executeContext } from '../workflows/executeContext';

/** n8n's store of one node, with its entries as texts, the oldest first. */
export class Entries {
	list: string[] = [];
	/** Called with the values of each call before they are written. A test can make it throw. */
	before: (values: readonly string[]) => void = () => {};
	/** The same for when they are written. A test can write like another worker. */
	after: (values: readonly string[]) => void = () => {};

	/** The context that n8n passes to the node. */
	contextOf({ inWorker = false, token = 'token', id = '1' } = {}): IExecuteFunctions {
		const helpers = {
			checkProcessedAndRecord: async (
				values: string[],
				_: unknown,
				{ maxEntries = Infinity }: { maxEntries?: number },
			) => {
				this.before(values);
				const processed = values.filter((value) => this.list.includes(value));
				const added = values.filter((value) => !this.list.includes(value));
				const all = [...this.list, ...added];
				this.list = all.slice(Math.max(0, all.length - maxEntries));
				this.after(values);
				return { new: added, processed };
			},
			removeProcessed: async (values: string[]) => {
				this.before(values);
				this.list = this.list.filter((entry) => !values.includes(entry));
				this.after(values);
			},
			getProcessedDataCount: async () => this.list.length,
		};
		const additionalData = inWorker ? {} : { sendDataToUI: () => undefined };
		return Object.assign(executeContext({ token, id }), { helpers, additionalData });
	}
}
