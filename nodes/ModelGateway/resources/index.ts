import type { Operation } from '../../shared/n8n/operations/operation';
import { chatComplete } from './chat/complete';
import { embeddingCreate } from './embedding/create';
import { imageChat } from './image/chat';
import { imageEdit } from './image/edit';
import { imageGenerate } from './image/generate';
import { messageCreate } from './message/create';
import { modelGetAll } from './model/getAll';
import { referenceVideoCreate } from './referenceVideo/create';
import { referenceVideoGet } from './referenceVideo/get';
import { videoCreate } from './video/create';
import { videoGet } from './video/get';
import { videoGetContent } from './video/getContent';

/** All operations of the node. The first operation of a resource is its default. */
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
