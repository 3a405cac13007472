import type { FastifyInstance } from 'fastify';
import { modelIds } from '../models';
import { serve } from './endpoint';

/** 2026-01-01, in seconds. Nothing depends on it. */
const created = 1_767_225_600;

/** "Endpoints" 7. A key sees the models that its group may use. */
export function modelRoutes(api: FastifyInstance): void {
	serve(api, 'models', ({ account }) => ({
		object: 'list',
		data: modelIds
			.filter((id) => account.mayUse(id))
			.map((id) => ({ id, object: 'model', created, owned_by: 'model-gateway' })),
	}));
}
