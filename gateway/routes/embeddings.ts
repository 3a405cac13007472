import type { FastifyInstance } from 'fastify';
import { endpoints } from '../../nodes/shared/service/protocol/endpoints';
import type { FieldRule } from '../../nodes/shared/service/protocol/fields';
import { embed } from '../embedding';
import { invalidParameter, parameterError } from '../errors';
import { readFields, readNumber, readObject } from '../fields';
import { embeddingModels, findModel } from '../models';
import { readPrompt } from '../prompts';
import { begin, type Service } from '../service';
import { tokensOf } from '../tokens';
import { serve } from './endpoint';

/** "Endpoints" 6: embeddings. */
export function embeddingRoutes(api: FastifyInstance, service: Service): void {
	serve(api, 'embedding', async (request) => {
		const { model, texts, dimensions, encode } = readOrder(request.body);
		await begin(service, request, model);
		const tokens = texts.reduce((total, text) => total + tokensOf(text).length, 0);
		request.purchase = { kind: 'embedding', model, quantity: tokens, unit: 'token' };
		return {
			object: 'list',
			data: texts.map((text, index) => ({
				object: 'embedding',
				index,
				embedding: encode(embed(text, dimensions)),
			})),
			model,
			usage: { prompt_tokens: tokens, total_tokens: tokens },
		};
	});
}

const encodings = {
	float: (vector: Float32Array) => [...vector],
	// Little-endian, like every machine that this runs on.
	base64: ({ buffer }: Float32Array) => Buffer.from(buffer).toString('base64'),
};

const { fields } = endpoints.embedding;
/** The specification shows neither which fields are required, nor the default encoding. */
const table = {
	...fields,
	model: { ...fields.model, required: true },
	encoding_format: { ...fields.encoding_format, default: 'float' },
} as const;

function readOrder(value: unknown) {
	const body = readObject(value, 'body');
	const { model, input, encoding_format: format } = readFields(table, body);
	const { dimensions: max } = findModel(embeddingModels, model);
	const dimensions: FieldRule = { type: 'integer', min: 1, max, default: max };
	return {
		model,
		texts: readTexts(input),
		// The specification does not list this field. Clients send it to get shorter vectors.
		dimensions: Number(readNumber(dimensions, body.dimensions, 'dimensions')),
		encode: encodings[format],
	};
}

function readTexts(input: unknown): string[] {
	const texts: unknown[] = [input ?? []].flat();
	if (Array.isArray(input) && texts.length > 0 && texts.flat().every(Number.isInteger)) {
		const type = `array of ${Array.isArray(texts[0]) ? 'arrays of ' : ''}integers`;
		throw parameterError('input', `has token numbers where texts are expected (it is an ${type})`);
	}
	if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) {
		throw invalidParameter('input', 'a text or an array of texts');
	}
	return texts.map((text) => readPrompt(text.trim(), 'input'));
}
