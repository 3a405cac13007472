import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { piecesOf, readRange, type StoredFile } from './files';
import type { Jobs } from './jobs';
import type { Links } from './links';

/** A refusal in the XML of object storage. The specification does not show its form. */
class StorageError extends Error {
	constructor(
		readonly statusCode: number,
		readonly code: string,
		message: string,
		readonly headers: Record<string, string> = {},
	) {
		super(message);
	}
}

const accessDenied = (message: string) => new StorageError(403, 'AccessDenied', message);
const noSuchKey = () => new StorageError(404, 'NoSuchKey', 'The specified key does not exist.');

interface StorageContent {
	jobs: Jobs;
	links: Links;
	/** Generated images by ID. */
	images: Map<string, StoredFile>;
	/** Public files by name. */
	media: Map<string, StoredFile>;
}

/** The path of a job's video on the storage host. */
export const videoPath = (jobId: string) => `/results/${jobId}/video.mp4`;
export const imagePath = (id: string) => `/images/${id}.png`;
export const mediaPath = (name: string) => `/media/${encodeURIComponent(name)}`;

/** "Endpoints" 3: the object storage of result links, and the sample media. */
export function serveStorage(
	host: FastifyInstance,
	{ jobs, links, images, media }: StorageContent,
): void {
	const requireSignature = (pathname: string, query: Record<string, string>) => {
		const link = links.check(pathname, query);
		if (link === 'forged') throw accessDenied('The signature does not match.');
		if (link === 'expired') throw accessDenied('Request has expired.');
	};

	host.addHook('preHandler', async ({ headers }) => {
		if (headers.authorization !== undefined) {
			throw new StorageError(403, 'AccessDenied', 'Only one auth mechanism is allowed.');
		}
	});

	host.setErrorHandler<StorageError>(
		({ statusCode = 500, code, message, headers }, request, reply) =>
			reply
				.code(statusCode)
				.headers({ ...headers, 'content-type': 'application/xml' })
				.send(
					`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message><RequestId>${request.id}</RequestId></Error>`,
				),
	);
	host.setNotFoundHandler(async () => {
		throw noSuchKey();
	});

	host.route<{ Params: { id: string }; Querystring: Record<string, string> }>({
		method: ['GET', 'HEAD'],
		url: videoPath(':id'),
		config: { route: 'download' },
		handler: async (request, reply) => {
			const { id } = request.params;
			requireSignature(videoPath(id), request.query);
			const video = jobs.get(id)?.video;
			if (!video) throw noSuchKey();
			return await send(video, request, reply);
		},
	});

	host.route<{ Params: { image: string }; Querystring: Record<string, string> }>({
		method: ['GET', 'HEAD'],
		url: imagePath(':image'),
		config: { route: 'download' },
		handler: async (request, reply) => {
			const { image: id } = request.params;
			requireSignature(imagePath(id), request.query);
			const image = images.get(id);
			if (!image) throw noSuchKey();
			return await send(image, request, reply);
		},
	});

	host.route<{ Params: { name: string } }>({
		method: ['GET', 'HEAD'],
		url: '/media/:name',
		config: { route: 'media' },
		handler: async (request, reply) => {
			const file = media.get(request.params.name);
			if (!file) throw noSuchKey();
			return await send(file, request, reply);
		},
	});
}

/** Streams a file, or the part that Range and If-Range request. */
async function send(
	file: StoredFile,
	request: FastifyRequest,
	reply: FastifyReply,
): Promise<unknown> {
	const size = file.bytes.length;
	const { range: asked = '', 'if-range': version = file.etag } = request.headers;
	const range = version === file.etag ? readRange(asked, size) : undefined;
	if (range === 'unsatisfiable') {
		throw new StorageError(416, 'InvalidRange', 'The requested range is not satisfiable.', {
			'content-range': `bytes */${size}`,
		});
	}
	const part = range ?? { first: 0, last: size - 1 };
	if (range) reply.code(206).header('content-range', `bytes ${part.first}-${part.last}/${size}`);
	reply.headers({
		'accept-ranges': 'bytes',
		'content-length': part.last - part.first + 1,
		'content-type': file.contentType,
		etag: file.etag,
	});
	return reply.send(request.method === 'HEAD' ? null : Readable.from(piecesOf(file, part)));
}
