import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import {
	embed,
	type EmbeddedBatch,
	type Embedding,
} from '../../../shared/gateway/embeddings/embed';
import type { EmbeddingList } from '../../../shared/gateway/embeddings/responses';
import { asGatewayError, GatewayError } from '../../../shared/gateway/errors/gatewayError';
import { withoutUndefined } from '../../../shared/gateway/json';
import { endpoints } from '../../../shared/gateway/protocol/endpoints';
import type { ItemOutput, ItemRun } from '../../../shared/n8n/items/work';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { ExtraBody } from '../../../shared/n8n/parameters/extraBody';
import type { Field } from '../../../shared/n8n/parameters/field';
import { choiceField, requiredText } from '../../../shared/n8n/parameters/fieldKinds';
import type { Scope } from '../../../shared/n8n/parameters/itemParameters';
import { modelField } from '../../../shared/n8n/parameters/model';
import {
	batchSizeOption,
	dimensionsOption,
	timeoutOption,
} from '../../../shared/n8n/parameters/options';

interface Request extends Embedding {
	texts: string[];
	/** The item gave a list: its output has one too. */
	isList: boolean;
}

const model = modelField();
const input: Field<Pick<Request, 'texts' | 'isList'>> = {
	...requiredText({
		displayName: 'Input',
		name: 'input',
		request: 'input',
		typeOptions: { rows: 2 },
		required: true,
		description: 'The text, or a list of texts given by an expression',
	}),
	read: readInput,
};
const encodingFormat = choiceField({
	displayName: 'Encoding Format',
	name: 'encodingFormat',
	request: 'encoding_format',
	rule: endpoints.embedding.fields.encoding_format,
	options: [
		{
			name: 'Base64',
			value: 'base64',
			description: 'Smaller responses, which this node decodes to numbers',
		},
		{ name: 'Float', value: 'float' },
	],
	default: 'float',
	description: 'How the vectors are encoded in the response',
});

/** "Endpoints" 6. */
export const embeddingCreate: Operation<Request, ItemOutput[]> = {
	resource: { name: 'Embedding', value: 'embedding' },
	name: 'Create',
	value: 'create',
	action: 'Create embeddings from text',
	description: 'Turn texts into vectors. Many items share few requests.',
	endpoint: endpoints.embedding,
	fields: [model, input],
	options: [batchSizeOption, dimensionsOption, encodingFormat],

	prepare(parameters) {
		const { options } = parameters;
		const optionFields = [dimensionsOption, encodingFormat];
		return {
			fields: new ExtraBody(parameters, ['input']).body([model], optionFields),
			...input.read(parameters),
			batchSize: Math.floor(batchSizeOption.read(options)),
			timeout: timeoutOption.read(options),
		};
	},

	batch: {
		// One request takes them all: where several are halved after a refusal, none of them has a response.
		key: ({ fields, batchSize, timeout }) => [fields, batchSize, timeout],
		size: ({ texts }) => texts.length,
		maxSize: ({ batchSize }) => batchSize,
		// A list that takes several requests shares none of them, so the parts are its own.
		perform: async (requests, run) =>
			await embedAll(requests, run, requests.length === 1 ? keptBatches(run) : undefined),
	},

	async perform(request, run) {
		const [result] = await embedAll([request], run, keptBatches(run));
		if (result instanceof GatewayError) throw result;
		return result;
	},

	identity: ({ fields, texts, isList }) => ({ fields, texts, isList }),
};

function readInput(scope: Scope): Pick<Request, 'texts' | 'isList'> {
	const { name, displayName } = input.property;
	const value = scope.value(name);
	const texts = (Array.isArray(value) ? value : [value]).map((entry: unknown) =>
		Number.isFinite(entry) ? String(entry) : entry,
	);
	if (texts.length === 0) scope.report(displayName, 'is an empty list', 'unsendable');
	texts.forEach((text, index) => {
		const field = Array.isArray(value) ? `${displayName} ${index + 1}` : displayName;
		if (typeof text !== 'string') scope.report(field, 'must be a text', 'unsendable');
		else if (text.trim() === '') scope.report(field, 'is empty');
	});
	return { texts: texts as string[], isList: Array.isArray(value) };
}

/** Whether one text among many can be the cause: not when the response names what all of them share. */
function isAboutText({ failure: { status, refusal, param } }: GatewayError): boolean {
	if (status !== 400) return false;
	if (refusal === 'refusedPrompt') return true;
	const isUnknown = refusal === 'badRequest' || refusal === 'moderated';
	return isUnknown && !/^(?!input)./.test(param ?? '');
}

/** Of all vectors of a run: who compares them needs one length. */
const lengthsOfRuns = new WeakMap<IExecuteFunctions, Map<string, number>>();

function lengthsOf(context: IExecuteFunctions): Map<string, number> {
	const lengths = lengthsOfRuns.get(context) ?? new Map<string, number>();
	lengthsOfRuns.set(context, lengths);
	return lengths;
}

/** What an earlier try kept. */
const keptBatches = ({ parts }: ItemRun) => parts as EmbeddedBatch[];

/** One request for all, unless one of them is refused: then halves, so that it fails alone. */
async function embedAll(
	requests: Request[],
	run: ItemRun,
	batches?: EmbeddedBatch[],
): Promise<Array<ItemOutput[] | GatewayError>> {
	const { gateway, context } = run;
	try {
		const texts = requests.flatMap((request) => request.texts);
		const settings = { ...requests[0], lengths: lengthsOf(context), batches };
		return outputsOf(requests, await embed(gateway, texts, settings));
	} catch (error) {
		const refusal = asGatewayError(error);
		if (requests.length === 1 || !isAboutText(refusal)) return requests.map(() => refusal);
	}
	const middle = Math.ceil(requests.length / 2);
	const halves = [requests.slice(0, middle), requests.slice(middle)];
	return (await Promise.all(halves.map(async (half) => await embedAll(half, run)))).flat();
}

/** Gives every vector back to the item it came from. */
function outputsOf(requests: Request[], list: EmbeddingList): ItemOutput[][] {
	const { model: id, usage, requestId } = list;
	const vectors = [...list.vectors];
	return requests.map(({ texts, isList }, index) => {
		const own = vectors.splice(0, texts.length);
		const json = withoutUndefined({
			...(isList ? { embeddings: own } : { embedding: own[0] }),
			model: id,
			// The tokens of a shared request are told once, so that a sum over all items is true.
			usage: index === 0 ? usage : undefined,
			request_id: requestId,
		});
		return [{ json: json as IDataObject }];
	});
}
