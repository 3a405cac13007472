import type { IDataObject } from 'n8n-workflow';
import { embeddingList, type EmbeddingList } from '../../shared/gateway/embeddings';
import { GatewayError } from '../../shared/gateway/errors';
import { defined } from '../../shared/gateway/json';
import { endpoints } from '../../shared/gateway/protocol';
import type { Gateway } from '../../shared/gateway/transport';
import { modelField } from '../../shared/n8n/models';
import type { ItemOutput, Operation } from '../../shared/n8n/operation';
import type { ItemParameters } from '../../shared/n8n/parameters';

interface Request {
	model: string;
	texts: string[];
	/** The item gave a list: its answer is one too. */
	isList: boolean;
	encodingFormat?: string;
	/** Most texts in one request. */
	batchSize: number;
	timeout?: number;
}

const { encoding_format: encodingField } = endpoints.embedding.fields;
const defaultBatchSize = 100;

/** "Endpoints" 6. */
export const embeddingCreate: Operation<Request, ItemOutput[]> = {
	resource: { name: 'Embedding', value: 'embedding' },
	name: 'Create',
	value: 'create',
	action: 'Create an embedding',
	description: 'Turn texts into vectors; many items go in few requests',
	endpoint: endpoints.embedding,
	paid: true,
	fields: [
		modelField(),
		{
			displayName: 'Input',
			name: 'input',
			type: 'string',
			typeOptions: { rows: 2 },
			default: '',
			required: true,
			description: 'The text, or by expression a list of texts',
		},
	],
	options: [
		{
			displayName: 'Batch Size',
			name: 'batchSize',
			type: 'number',
			default: defaultBatchSize,
			typeOptions: { minValue: 1 },
			description: 'How many texts are sent in one request at most',
		},
		{
			displayName: 'Encoding Format',
			name: 'encodingFormat',
			type: 'options',
			options: [
				{
					name: 'Base64',
					value: 'base64',
					description: 'Smaller answers; decoded to numbers here',
				},
				{ name: 'Float', value: 'float' },
			],
			default: 'float',
			description: 'How the vectors travel',
		},
	],

	prepare(parameters) {
		const format = parameters.optionalText('encodingFormat', 'Encoding Format');
		if (format !== undefined && !(encodingField.values as readonly string[]).includes(format)) {
			parameters.report('Encoding Format', `must be one of ${encodingField.values.join(', ')}`);
		}
		const rules = { min: 1, fallback: defaultBatchSize };
		return {
			model: parameters.chosen('model', 'Model'),
			...readInput(parameters),
			...defined({ encodingFormat: format }),
			batchSize: Math.floor(parameters.setting('batchSize', 'Batch Size', rules)),
			timeout: parameters.timeout,
		};
	},

	batch: {
		key: ({ model, encodingFormat, timeout }) => [model, encodingFormat, timeout],
		size: ({ texts }) => texts.length,
		most: ({ batchSize }) => batchSize,
		perform: async (requests, { gateway }) => await embedAll(requests, gateway),
	},

	async perform(request, { gateway }) {
		const [made] = await embedAll([request], gateway);
		if (made instanceof GatewayError) throw made;
		return made;
	},

	identity: ({ model, texts, isList, encodingFormat }) => ({
		model,
		texts,
		isList,
		encodingFormat,
	}),
};

function readInput(parameters: ItemParameters): Pick<Request, 'texts' | 'isList'> {
	const value = parameters.value('input');
	const texts = (Array.isArray(value) ? value : [value]).map((entry: unknown) =>
		typeof entry === 'number' ? String(entry) : entry,
	);
	if (texts.length === 0) parameters.report('Input', 'is an empty list');
	texts.forEach((text, index) => {
		const field = Array.isArray(value) ? `Input ${index + 1}` : 'Input';
		if (typeof text !== 'string') parameters.report(field, 'must be a text');
		else if (text.trim() === '') parameters.report(field, 'is empty');
	});
	return { texts: texts as string[], isList: Array.isArray(value) };
}

/** One request for all, unless one of them is refused: then halves, so that it fails alone. */
async function embedAll(
	requests: Request[],
	gateway: Gateway,
): Promise<Array<ItemOutput[] | GatewayError>> {
	try {
		const lists = await Promise.all(
			chunks(
				requests.flatMap(({ texts }) => texts),
				requests[0].batchSize,
			).map(async (texts) => await embed(requests[0], texts, gateway)),
		);
		return outputsOf(requests, lists);
	} catch (error) {
		if (!(error instanceof GatewayError) || error.record.status !== 400 || requests.length === 1) {
			return requests.map(() => asGatewayError(error));
		}
	}
	const middle = Math.ceil(requests.length / 2);
	const halves = [requests.slice(0, middle), requests.slice(middle)];
	return (await Promise.all(halves.map(async (half) => await embedAll(half, gateway)))).flat();
}

async function embed(
	{ model, encodingFormat, timeout }: Request,
	texts: string[],
	gateway: Gateway,
): Promise<EmbeddingList> {
	return await gateway.call({
		endpoint: endpoints.embedding,
		purpose: 'create the embeddings',
		body: { model, input: texts, ...defined({ encoding_format: encodingFormat }) },
		timeout,
		parse: (answer) => embeddingList(answer, texts.length),
	});
}

/** Gives every vector back to the item it came from. */
function outputsOf(requests: Request[], lists: EmbeddingList[]): ItemOutput[][] {
	const vectors = lists.flatMap((list) => list.vectors);
	const [{ model, usage, requestId }] = lists;
	return requests.map(({ texts, isList }) => {
		const own = vectors.splice(0, texts.length);
		const json = defined({
			...(isList ? { embeddings: own } : { embedding: own[0] }),
			model,
			// The tokens of a shared request belong to no single item.
			usage: requests.length === 1 && lists.length === 1 ? usage : undefined,
			request_id: requestId,
		});
		return [{ json: json as IDataObject }];
	});
}

function chunks<T>(entries: T[], size: number): T[][] {
	const count = Math.ceil(entries.length / size);
	return Array.from({ length: count }, (_, index) =>
		entries.slice(index * size, (index + 1) * size),
	);
}

function asGatewayError(error: unknown): GatewayError {
	if (error instanceof GatewayError) return error;
	throw error;
}
