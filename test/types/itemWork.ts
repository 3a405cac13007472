// Only the compiler reads this file: what is expected to be an error here must not compile anywhere.
import { endpoints } from '../../nodes/shared/service/protocol/endpoints';
import type { ItemWork } from '../../nodes/shared/n8n/items/work';
import type { Operation } from '../../nodes/shared/n8n/operations/operation';

interface Sentence {
	text: string;
}

const common = { endpoint: endpoints.models, prepare: () => ({}) };
const outputs = [{ json: {} }];

export const direct: ItemWork = { ...common, perform: async () => outputs };

export const delivering: ItemWork<object, Sentence> = {
	...common,
	perform: async () => ({ text: 'fine' }),
	deliver: async ({ text }) => [{ json: { text } }],
};

// @ts-expect-error Without `deliver`, `perform` gives the outputs.
export const text: ItemWork = { ...common, perform: async () => 'oops' };

// @ts-expect-error Nor does the type of a result help, when nothing delivers it.
export const undelivered: ItemWork<object, Sentence> = {
	...common,
	perform: async () => ({ text: 'oops' }),
};

// @ts-expect-error What gives no outputs gives an empty list.
export const missing: ItemWork = { ...common, perform: async () => undefined };

export const other: ItemWork<object, Sentence> = {
	...common,
	// @ts-expect-error `deliver` is for another result.
	perform: async () => ({ words: 'oops' }),
	deliver: async ({ text: words }) => [{ json: { words } }],
};

export const batch: ItemWork = {
	...common,
	perform: async () => outputs,
	batch: {
		key: () => '',
		size: () => 1,
		maxSize: () => 2,
		// @ts-expect-error A batch gives for each request what `perform` would.
		perform: async () => ['oops'],
	},
};

const entry = {
	...{ resource: { name: 'Word', value: 'word' }, name: 'Get', value: 'get' },
	...{ action: 'Get a word', description: 'Get one word', fields: [] },
};

// @ts-expect-error So it is with operations.
export const operation: Operation = { ...entry, ...common, perform: async () => 'oops' };
