import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { endpoints } from '../../nodes/shared/service/protocol/endpoints';
import type { Phase } from '../../nodes/shared/service/protocol/jobs';

type Request = FastifyRequest<{ Params: { id: string } }>;

/** Serves one endpoint at its path in the protocol. The handler returns the response. */
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

/** The name of a phase in one of the service's vocabularies. */
export function stateOf(vocabulary: Record<string, Phase>, phase: Phase): string | undefined {
	return Object.keys(vocabulary).find((state) => vocabulary[state] === phase);
}
