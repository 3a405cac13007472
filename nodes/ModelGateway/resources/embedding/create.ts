import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { requestIdsOf } from '../../../shared/service/client/response';
import {
	embed,
	usageOf,
	vectorsOf,
	type EmbeddedBatch,
	type EmbedOptions,
} from '../../../shared/service/embeddings/embed';
import { asGatewayError, GatewayError } from '../../../shared/service/errors/gatewayError';
import { describeValue, textAt, withoutUndefined } from '../../../shared/service/json';
import { textAmount } from '../../../shared/service/protocol/amount';
import { endpoints } from '../../../shared/service/protocol/endpoints';
import type { ItemOutput, ItemRun } from '../../../shared/n8n/items/work';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { ExtraBody } from '../../../shared/n8n/parameters/extraBody';
import { fieldOf, type Report } from '../../../shared/n8n/parameters/field';
import { intendedText } from '../../../shared/n8n/parameters/values';
import type { Scope } from '../../../shared/n8n/parameters/itemParameters';
import { modelField } from '../../../shared/n8n/parameters/model';
import {
	batchSizeOption,
	dimensionsOption,
	encodingFormatOption,
} from '../../../shared/n8n/parameters/options';
import { simplifyFieldOf } from '../shared/fields';

interface Request extends EmbedOptions, Texts {
	simplify: boolean;
}

interface Texts {
	/** Only their number matters when `fields` already has them as `input`. */
	texts: unknown[];
	/** Whether the item gave a list. Its output then has a list, too. */
	isList: boolean;
}

const model = modelField();
const input = fieldOf(
	'string',
	{
		displayName: 'Input',
		name: 'input',
		request: 'input',
		typeOptions: { rows: 2 },
		required: true,
		description: 'The text, or a list of texts given by an expression',
	},
	readInput,
);
const simplify = simplifyFieldOf(
	'Whether to return only the vectors with their model and usage. When off, you get the whole response, with the vectors of this item in data.',
);

/** "Endpoints" 6. */
export const embeddingCreate: Operation<Request, EmbeddedBatch[]> = {
	resource: { name: 'Embedding', value: 'embedding' },
	name: 'Create',
	value: 'create',
	action: 'Create embeddings from text',
	description: 'Turn texts into vectors. Many items share few requests.',
	endpoint: endpoints.embedding,
	fields: [model, input, simplify],
	options: [dimensionsOption, encodingFormatOption, batchSizeOption],

	prepare(parameters) {
		const { options } = parameters;
		const extra = new ExtraBody(parameters);
		const fields = extra.body([model], [dimensionsOption, encodingFormatOption]);
		const texts = extra.has('input') ? givenTexts(fields.input) : input.read(parameters);
		const batchSize = Math.floor(batchSizeOption.read(options));
		return {
			fields,
			...texts,
			// Texts from Extra Body are not divided into batches.
			batchSize: extra.has('input') ? texts.texts.length : batchSize,
			simplify: simplify.read(parameters),
		};
	},

	batch: {
		// A batch of items always fits into one request, so that halving a refused one throws no response away.
		key: ({ fields, batchSize }) => [fields, batchSize],
		size: ({ texts }) => texts.length,
		maxSize: ({ batchSize }) => batchSize,
		// A list that takes several requests shares none of them: the parts that an earlier try kept are its own.
		perform: async (requests, run) =>
			await embedAll(
				requests,
				run,
				requests.length === 1 ? (run.parts as EmbeddedBatch[]) : undefined,
			),
	},

	async deliver(batches, { isList, simplify: isSimple }) {
		return isSimple ? [simplified(batches, isList)] : batches.map(wholeResponse);
	},

	amount: ({ fields }) => textAmount(fields),

	identity: ({ fields, texts, isList }) => ({ fields, texts, isList }),
};

function readInput(value: unknown, reportInput: Report, scope: Scope): Texts {
	const { displayName } = input.property;
	const texts = (Array.isArray(value) ? value : [value]).map((entry: unknown) =>
		Number.isFinite(entry) ? String(entry) : entry,
	);
	if (texts.length === 0) reportInput('is an empty list', 'unsendable');
	let hasHint = false;
	texts.forEach((text, index) => {
		const field = Array.isArray(value) ? `${displayName} ${index + 1}` : displayName;
		const report: Report = (problem, kind) => {
			// One is enough: a list may have thousands of texts about such words.
			if (kind === 'hint' && hasHint) return;
			hasHint ||= kind === 'hint';
			scope.report(field, problem, kind);
		};
		if (typeof text === 'string') intendedText(text, report);
		else report(`must be a text (it is ${describeValue(text)})`, 'unsendable');
	});
	return { texts, isList: Array.isArray(value) };
}

/** The texts from Extra Body: one text or list of token numbers, or a list of these. */
function givenTexts(given: unknown): Texts {
	const isList = Array.isArray(given) && !given.every(Number.isFinite);
	return { texts: isList ? given : [given], isList };
}

/** Whether one text among many can be the cause. It cannot when the response names a field that all texts share. */
function isAboutText({ failure: { status, kind, param } }: GatewayError): boolean {
	if (status !== 400) return false;
	if (kind === 'refusedContent') return true;
	return kind === 'badRequest' && (param || 'input').startsWith('input');
}

/** The vector lengths of each run, which must be the same: other vectors could not be compared. */
const lengthsOfRuns = new WeakMap<IExecuteFunctions, Map<string, number>>();

function lengthsOf(context: IExecuteFunctions): Map<string, number> {
	const lengths = lengthsOfRuns.get(context) ?? new Map<string, number>();
	lengthsOfRuns.set(context, lengths);
	return lengths;
}

/** Sends all requests as one. If that is refused because of a text, it sends halves, so that the text fails alone. */
async function embedAll(
	requests: Request[],
	run: ItemRun,
	batches?: EmbeddedBatch[],
): Promise<Array<EmbeddedBatch[] | GatewayError>> {
	const { gateway, context, sending } = run;
	try {
		const texts = requests.flatMap((request) => request.texts);
		const settings = { ...requests[0], ...sending, lengths: lengthsOf(context), batches };
		const received = await embed(gateway, texts, settings);
		return requests.length === 1 ? [received] : partsOf(requests, received[0]);
	} catch (error) {
		const refusal = asGatewayError(error);
		if (requests.length === 1 || !isAboutText(refusal)) return requests.map(() => refusal);
	}
	const middle = Math.ceil(requests.length / 2);
	const halves = [requests.slice(0, middle), requests.slice(middle)];
	return (await Promise.all(halves.map(async (half) => await embedAll(half, run)))).flat();
}

/** Gives each item its own vectors of the one response to all of them. */
function partsOf(
	requests: Request[],
	{ vectors, entries, fields }: EmbeddedBatch,
): EmbeddedBatch[][] {
	let end = 0;
	return requests.map(({ texts }, position) => {
		const start = end;
		end += texts.length;
		const part = {
			vectors: vectors.slice(start, end),
			entries: entries.slice(start, end),
			positions: [...texts.keys()],
			// Only the first item has the usage, so that the sum over all items is correct.
			fields: position === 0 ? fields : withoutUndefined({ ...fields, usage: undefined }),
		};
		return [part];
	});
}

function simplified(batches: EmbeddedBatch[], isList: boolean): ItemOutput {
	const vectors = vectorsOf(batches);
	const [{ fields }] = batches;
	const json = withoutUndefined({
		...(isList ? { embeddings: vectors } : { embedding: vectors[0] }),
		model: textAt(fields, 'model'),
		usage: usageOf(batches),
		...requestIdsOf(fields),
	});
	return { json: json as IDataObject };
}

/** The response as the service sent it, but only with the vectors of the item. */
function wholeResponse({ vectors, entries, fields }: EmbeddedBatch): ItemOutput {
	const data = entries.map((entry, index) => ({ ...entry, embedding: vectors[index] }));
	return { json: { ...fields, data } as IDataObject };
}
