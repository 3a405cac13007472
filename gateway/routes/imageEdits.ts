import multipart, { type MultipartFile } from '@fastify/multipart';
import type { Image } from '@napi-rs/canvas';
import type { FastifyInstance } from 'fastify';
import { endpoints } from '../../nodes/shared/service/protocol/endpoints';
import { invalidParameter } from '../errors';
import { readFields, readLink, readObject } from '../fields';
import { UploadedFile } from '../files';
import { amount, imageUsage, readAspectRatio, readSize, wordImages } from '../images';
import { findModel, imageEditModels, type ImageEditModel } from '../models';
import { decodePicture, loadPicture } from '../pictures';
import { readPrompt } from '../prompts';
import { repaint, type Size } from '../rendering';
import { begin, type Service } from '../service';
import { serve } from './endpoint';

const { fields } = endpoints.imageEdit;
/** The specification does not show which fields are required. */
const table = { ...fields, model: { ...fields.model, required: true }, n: amount } as const;

/** "Endpoints" 9: image editing, the only endpoint that takes a form instead of JSON. */
export function imageEditRoutes(api: FastifyInstance, service: Service): void {
	const routes = async (scope: FastifyInstance) => {
		scope.removeAllContentTypeParsers();
		await scope.register(multipart, { attachFieldsToBody: 'keyValues', onFile: keepFile });

		serve(scope, 'imageEdit', async (request) => {
			const form = readForm(request.body);
			const { model: id, n, ...rest } = readFields(table, form);
			const model = findModel(imageEditModels, id);
			const prompt = readPrompt(rest.prompt, 'prompt');
			await begin(service, request, id);

			const load = async (value: unknown, param: string): Promise<Image> => {
				if (value instanceof UploadedFile) return await decodePicture(value.bytes, param);
				if (!model.takesLinks) throw invalidParameter(param, 'a file');
				return await loadPicture({ url: readLink(value, param), param }, request.over);
			};
			const [image, mask] = await Promise.all([
				load(rest.image, 'image'),
				rest.mask === undefined ? undefined : load(rest.mask, 'mask'),
			]);
			const size = sizeFor(model, image, rest);
			const pictures = await Promise.all(
				Array.from({ length: n }, (_, seed) => repaint({ image, mask, prompt, seed, size })),
			);
			const usage = imageUsage(prompt, { given: mask ? 2 : 1, made: n });
			const quantity = model.unit === 'token' ? usage.total_tokens : n;
			request.purchase = { kind: 'image', model: id, quantity, unit: model.unit };
			return wordImages(service, { pictures, usage, format: form.response_format });
		});
	};
	api.register(routes);
}

async function keepFile(part: MultipartFile): Promise<void> {
	part.value = new UploadedFile(part.filename, part.mimetype, await part.toBuffer());
}

/** A form contains numbers as text. */
function readForm(body: unknown): Record<string, unknown> {
	const form = readObject(body, 'body');
	return typeof form.n === 'string' ? { ...form, n: Number(form.n) } : form;
}

/** The requested size; undefined for the size of the image. */
function sizeFor(
	{ takesLinks }: ImageEditModel,
	image: Size,
	{ size, aspect_ratio: ratio }: { size?: string; aspect_ratio?: string },
): Size | undefined {
	if (size !== undefined) return readSize(size);
	if (!takesLinks || ratio === undefined) return undefined;
	return readAspectRatio(ratio, Math.min(image.width, image.height));
}
