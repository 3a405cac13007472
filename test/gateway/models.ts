import { endpoints } from '../../nodes/shared/gateway/protocol/endpoints';
import { limits } from '../../nodes/shared/gateway/protocol/limits';
import { referenceVideoModels, videoModels } from '../../nodes/shared/gateway/protocol/models';
import { ServiceError } from './errors';

// The specification names the video models alone. All other ids are ours, in its neutral form.

/** Reasoning models refuse some parameters; image models answer with a picture. */
export type ChatSeries = 'text' | 'reasoning' | 'image';

/** Chat models that also answer native messages. */
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

/** A model is told the size of its pictures in pixels, or their shape. */
export interface ImageModel {
	/** Without them, it takes `aspect_ratio`. */
	sizes?: readonly string[];
	/** How long its links are good, when that is less than for other links. */
	linkSeconds?: number;
}

export const imageModels: Readonly<Record<string, ImageModel>> = {
	'image-1': { sizes: endpoints.imageGenerate.fields.size.examples },
	'image-1-kontext': { linkSeconds: limits.imageUrlMinutes * 60 },
};

export interface ImageEditModel {
	/** "Endpoints" 9: one family also takes links for its files, and `aspect_ratio`. */
	takesLinks: boolean;
	/** "What the service does", billing rule 1: one image model is billed per token. Which one is not shown. */
	unit: 'image' | 'token';
}

export const imageEditModels: Readonly<Record<string, ImageEditModel>> = {
	'image-edit-1': { takesLinks: false, unit: 'token' },
	'image-edit-1-url': { takesLinks: true, unit: 'image' },
};

/** What `GET /v1/models` lists. */
export const modelIds: readonly string[] = [
	chatModels,
	embeddingModels,
	imageModels,
	imageEditModels,
	referenceVideoModels,
	videoModels,
].flatMap(Object.keys);

/** Gives an endpoint's model of this id, or the error "model does not exist". */
export function findModel<Model>(models: Readonly<Record<string, Model>>, id: string): Model {
	if (!Object.hasOwn(models, id)) {
		const message = `the model ${id} does not exist, or not at this endpoint`;
		throw new ServiceError(404, 'model_not_found', message, { param: 'model' });
	}
	return models[id];
}
