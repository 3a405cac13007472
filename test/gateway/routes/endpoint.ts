import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { endpoints } from '../../../nodes/shared/gateway/protocol/endpoints';
import type { Phase } from '../../../nodes/shared/gateway/protocol/jobs';

type Request = FastifyRequest<{ Params: { id: string } }>;

/** Serves one endpoint where the protocol says that it lives. What the handler gives is the answer. */
export function serve(
	api: FastifyInstance,
	name: keyof typeof endpoints,
	handler: (request: Request, reply: FastifyReply) => unknown,
): void {
	const { method, path } = endpoints[name];
	api.route<{ Params: { id: string } }>({
		method,
		url: path.replace('{id}', ':id'),
		config: { route: name },
		handler: async (request, reply) => await handler(request, reply),
	});
}

/** Words a phase as one of the service's vocabularies does. */
export function stateOf(vocabulary: Record<string, Phase>, phase: Phase): string | undefined {
	return Object.keys(vocabulary).find((state) => vocabulary[state] === phase);
}
