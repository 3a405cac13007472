import type { FastifyInstance } from 'fastify';
import { resources } from '../../../nodes/shared/gateway/protocol/resources';
import { modelIds } from '../models';
import { serve } from './endpoint';

/** 2026-01-01, in seconds: nothing depends on it. */
const created = 1_767_225_600;

/** "Endpoints" 7. A key sees the models that its group may use. */
export function modelRoutes(api: FastifyInstance): void {
	const [object] = resources.modelList.object.values;
	const [kind] = resources.model.object.values;

	serve(api, 'models', ({ account }) => ({
		object,
		data: modelIds
			.filter((id) => account.mayUse(id))
			.map((id) => ({ id, object: kind, created, owned_by: 'model-gateway' })),
	}));
}
