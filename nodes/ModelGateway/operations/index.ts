import type { Operation } from '../../shared/n8n/operation';
import { chatComplete } from './chatComplete';
import { embeddingCreate } from './embeddingCreate';
import { imageChat } from './imageChat';
import { imageEdit } from './imageEdit';
import { imageGenerate } from './imageGenerate';
import { messageCreate } from './messageCreate';
import { modelGetAll } from './modelGetAll';
import { referenceVideoCreate } from './referenceVideoCreate';
import { referenceVideoGet } from './referenceVideoGet';
import { videoCreate } from './videoCreate';
import { videoGet } from './videoGet';
import { videoGetContent } from './videoGetContent';

/** Every operation of the node; the first of each resource is its default. */
export const operations: Operation[] = [
	referenceVideoCreate,
	referenceVideoGet,
	videoCreate,
	videoGet,
	videoGetContent,
	imageGenerate,
	imageEdit,
	imageChat,
	chatComplete,
	messageCreate,
	embeddingCreate,
	modelGetAll,
];
