import fastify, { type FastifyInstance } from 'fastify';
import { randomBytes } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { requestIdHeader } from '../nodes/shared/service/protocol/endpoints';
import type { GatewayEvents, HostName, RecordedRequest, Route } from './events';
import { behaviourOf, type Behaviour } from './faults/actions';
import type { Body } from './faults/bodies';
import type { Faults } from './faults/rules';

declare module 'fastify' {
	interface FastifyRequest {
		record: RecordedRequest;
		/** Aborts when the exchange is over: the response has been sent in full, or the client is gone. */
		over: AbortSignal;
		fault?: Behaviour;
	}
	interface FastifyContextConfig {
		route?: Route;
	}
}

interface Traffic {
	requests: RecordedRequest[];
	events: EventEmitter<GatewayEvents>;
	faults: Faults;
}

/** Chat and image requests contain images as base64. */
const maxBodyBytes = 64 * 1024 * 1024;

/**
 * An HTTP host without routes yet. It gives every response a request ID and records every request. Faults act only
 * here: before the routes' own hooks run, and after the routes have responded.
 */
export function createHost(name: HostName, { requests, events, faults }: Traffic): FastifyInstance {
	const host = fastify({
		bodyLimit: maxBodyBytes,
		exposeHeadRoutes: false,
		forceCloseConnections: true,
		// An ID may be long.
		routerOptions: { maxParamLength: 5_000 },
		genReqId: () => `req_${randomBytes(12).toString('hex')}`,
	});

	host.addHook('onRequest', async (request, reply) => {
		const { id, method, url, routeOptions, params } = request;
		const record: RecordedRequest = {
			host: name,
			route: routeOptions.config.route,
			method,
			url,
			headers: { ...request.headers },
			at: Date.now(),
			requestId: id,
			jobId: (params as { id?: string }).id,
		};
		const exchange = new AbortController();
		request.record = record;
		request.over = exchange.signal;
		requests.push(record);
		reply.header(requestIdHeader, id);
		reply.raw.once('close', () => {
			exchange.abort();
			events.emit('request', record);
		});
	});

	host.addHook('preHandler', async (request, reply) => {
		request.record.body = request.body;
		const action = faults.take(request.record);
		if (!action) return;
		request.record.fault = action;
		request.fault = behaviourOf(action);
		const instead = await request.fault.onRequest?.({ request, reply, body: undefined });
		if (instead !== undefined) return reply.send(instead);
	});

	host.addHook<Body>('onSend', async (request, reply, payload) => {
		const act = request.fault?.onAnswer;
		const sent = act ? await act({ request, reply, body: payload }) : payload;
		// Without a client, nothing is sent.
		if (!reply.raw.destroyed) request.record.status = reply.statusCode;
		return sent;
	});

	return host;
}
