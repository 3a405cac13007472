import type { FastifyInstance } from 'fastify';
import { endpoints } from '../../nodes/shared/service/protocol/endpoints';
import { readFields, readObject, readText } from '../fields';
import { amount, imageUsage, readAspectRatio, readSize, wordImages } from '../images';
import { findModel, imageModels, type ImageModel } from '../models';
import { readPrompt } from '../prompts';
import type { Size } from '../rendering';
import { begin, type Service } from '../service';
import { serve } from './endpoint';

const { fields } = endpoints.imageGenerate;
/** The specification shows neither which fields are required, nor the defaults of the others. */
const table = {
	...fields,
	model: { ...fields.model, required: true },
	n: amount,
	size: { ...fields.size, default: '1024x1024' },
	aspect_ratio: { ...fields.aspect_ratio, default: '1:1' },
	seed: { ...fields.seed, default: 0 },
} as const;

/** "Endpoints" 8: image generation. Fields that a model does not use are checked and ignored. */
export function imageGenerationRoutes(api: FastifyInstance, service: Service): void {
	serve(api, 'imageGenerate', async (request) => {
		const body = readObject(request.body, 'body');
		const { model: id, n, quality, style, seed, ...rest } = readFields(table, body);
		const model = findModel(imageModels, id);
		const caption = readPrompt(rest.prompt, 'prompt');
		const size = sizeFor(model, rest);
		await begin(service, request, id);

		const note = [`${size.width} x ${size.height}`, quality, style].filter(Boolean).join(', ');
		const pictures = await Promise.all(
			Array.from({ length: n }, (_, index) =>
				service.draw({ ...size, caption, note, seed: seed + index }),
			),
		);
		request.purchase = { kind: 'image', model: id, quantity: n, unit: 'image' };
		return wordImages(service, {
			pictures,
			usage: imageUsage(caption, { given: 0, made: n }),
			linkSeconds: model.linkSeconds,
			format: body.response_format,
		});
	});
}

/** The shorter side of an image whose model takes only its shape. */
const shortSide = 768;

function sizeFor(
	{ sizes }: ImageModel,
	{ size, aspect_ratio: ratio }: { size: string; aspect_ratio: string },
): Size {
	if (!sizes) return readAspectRatio(ratio, shortSide);
	readText({ type: 'string', values: sizes }, size, 'size');
	return readSize(size);
}
