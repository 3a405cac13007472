import type { Operation } from '../../shared/n8n/operation';
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
	modelGetAll,
];
