import type { FastifyError, FastifyInstance } from 'fastify';
import type { Account, Purchase } from './accounts';
import { ServiceError } from './errors';
import { chatRoutes } from './routes/chat';
import { embeddingRoutes } from './routes/embeddings';
import { imageEditRoutes } from './routes/imageEdits';
import { imageGenerationRoutes } from './routes/imageGenerations';
import { messageRoutes } from './routes/messages';
import { modelRoutes } from './routes/models';
import { referenceVideoRoutes } from './routes/referenceVideos';
import { videoRoutes } from './routes/videos';
import type { Service } from './service';

declare module 'fastify' {
	interface FastifyRequest {
		account: Account;
		/** Charged once the response has been sent in full. */
		purchase?: Purchase;
	}
}

/** The API itself: a key on every request, the error object on every failure, and the routes. */
export function serveApi(host: FastifyInstance, service: Service): void {
	host.addHook('preHandler', async (request) => {
		request.account = service.accounts.authenticate(request.headers.authorization);
	});

	// "What the service does", billing rule 2, and "Errors", status 0: a call is not charged when it failed or when its
	// response was lost.
	host.addHook('onResponse', async ({ account, purchase, id }, { raw, statusCode }) => {
		if (purchase && statusCode < 300 && raw.writableFinished) account.charge(purchase, id);
	});

	host.setErrorHandler<FastifyError | ServiceError>((error, _request, reply) => {
		const { status, body } = error instanceof ServiceError ? error : unreadable(error);
		return reply.code(status).send(body);
	});
	host.setNotFoundHandler(async ({ method, url }) => {
		throw new ServiceError(404, 'not_found', `there is no ${method} ${url}`);
	});

	for (const serveRoutes of [
		chatRoutes,
		messageRoutes,
		embeddingRoutes,
		modelRoutes,
		imageGenerationRoutes,
		imageEditRoutes,
		referenceVideoRoutes,
		videoRoutes,
	]) {
		serveRoutes(host, service);
	}
}

/** The error for a body that fastify could not read, such as one that is not JSON, or for a bug in the gateway. */
function unreadable({ statusCode = 500, message }: FastifyError): ServiceError {
	return new ServiceError(statusCode, statusCode < 500 ? 'invalid_request' : 'internal', message);
}
