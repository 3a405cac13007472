import { endpoints } from '../nodes/shared/service/protocol/endpoints';
import { limits } from '../nodes/shared/service/protocol/limits';
import { referenceVideoModels, videoModels } from '../nodes/shared/service/protocol/models';
import { ServiceError } from './errors';

// The specification names only the video models. All other IDs are ours, in its neutral form.

/** Reasoning models refuse some parameters; image models answer with an image. */
export type ChatSeries = 'text' | 'reasoning' | 'image';

/** Chat models that the messages endpoint serves as well. */
export const messageModels: Readonly<Record<string, ChatSeries>> = {
	'chat-1': 'text',
	'chat-1-mini': 'text',
	'reason-1': 'reasoning',
	'reason-1-mini': 'reasoning',
};

export const chatModels: Readonly<Record<string, ChatSeries>> = {
	...messageModels,
	'image-chat-1': 'image',
};

export const embeddingModels: Readonly<Record<string, { dimensions: number }>> = {
	'embed-1': { dimensions: 256 },
	'embed-1-large': { dimensions: 1024 },
};

/** An image model takes either the size of its images in pixels, or their shape. */
export interface ImageModel {
	/** The sizes that it takes. A model without sizes takes `aspect_ratio`. */
	sizes?: readonly string[];
	/** The lifetime of its links, if it is shorter than that of other links. */
	linkSeconds?: number;
}

export const imageModels: Readonly<Record<string, ImageModel>> = {
	'image-1': { sizes: endpoints.imageGenerate.fields.size.examples },
	'image-1-kontext': { linkSeconds: limits.imageUrlMinutes * 60 },
};

export interface ImageEditModel {
	/** "Endpoints" 9: one family also takes links for its files, and `aspect_ratio`. */
	takesLinks: boolean;
	/** "What the service does", billing rule 1: one image model is charged per token. Which one is not shown. */
	unit: 'image' | 'token';
}

export const imageEditModels: Readonly<Record<string, ImageEditModel>> = {
	'image-edit-1': { takesLinks: false, unit: 'token' },
	'image-edit-1-url': { takesLinks: true, unit: 'image' },
};

/** The IDs that `GET /v1/models` lists. */
export const modelIds: readonly string[] = [
	chatModels,
	embeddingModels,
	imageModels,
	imageEditModels,
	referenceVideoModels,
	videoModels,
].flatMap(Object.keys);

/** Returns the model with this ID, or throws the error "model does not exist". @param models of the endpoint */
export function findModel<Model>(models: Readonly<Record<string, Model>>, id: string): Model {
	if (!Object.hasOwn(models, id)) {
		const message = `the model ${id} does not exist, or not at this endpoint`;
		throw new ServiceError(404, 'model_not_found', message, { param: 'model' });
	}
	return models[id];
}
