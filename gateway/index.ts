import { EventEmitter, setMaxListeners } from 'node:events';
import { limits } from '../nodes/shared/service/protocol/limits';
import { witness } from './witness';
import { Accounts, type Charge, type KeyOptions } from './accounts';
import { serveApi } from './api';
import type { ScriptStep } from './chat/script';
import type { GatewayEvents, RecordedRequest } from './events';
import { Faults, type FaultHandle, type FaultRule } from './faults/rules';
import { storedFile, type StoredFile } from './files';
import { createHost } from './host';
import { IdempotencyKeys } from './idempotency';
import { Jobs, type Job } from './jobs';
import { Links } from './links';
import { logEvents } from './log';
import { Production } from './production';
import { drawPicture, Renderer, type PictureSpec, type RenderSpec } from './rendering';
import { mediaPath, serveStorage } from './storage';

export type { Charge, KeyOptions } from './accounts';
export type { ScriptStep } from './chat/script';
export type { RecordedRequest, Route } from './events';
export type { FaultAction } from './faults/actions';
export type { FaultHandle, FaultRule } from './faults/rules';
export type { Job, Jobs } from './jobs';
export type { RenderSpec } from './rendering';

export interface GatewayOptions {
	/** Port of the API. Default: any free one. */
	port?: number;
	/** Port of the backup URL. Default: any free one. */
	backupPort?: number;
	/** Port of the storage host. Default: any free one. */
	storagePort?: number;
	/** The address of the storage host in links to results, where a proxy stands before it. Default: its own. */
	publicStorageUrl?: string;
	/** The rights of each API key. Default: `demo-key` may do everything. */
	keys?: Record<string, KeyOptions>;
	/** The minimum time in seconds from the creation of a job to its completion. Default: 6. */
	jobSeconds?: number | ((job: Job) => number);
	/** Lifetime of signed links in seconds. Default: 24 hours, as in the service. */
	linkSeconds?: number;
	/** Makes the mp4 of a job. Default: the real renderer, on worker threads. */
	render?: (spec: RenderSpec) => Promise<Uint8Array>;
	/** Makes the PNG of a generated image. Default: a real one. Edits are always real. */
	draw?: (spec: PictureSpec) => Promise<Uint8Array>;
	/** The delay before the response to a chat, a message, an embedding or an image. Default: 0. */
	answerMilliseconds?: number;
	/** The delay before each piece of a streamed answer. Default: 0. */
	tokenMilliseconds?: number;
	/** The header with the key by which orders that are sent again are recognised. Default: none. */
	idempotencyHeader?: string;
	/** The clock of links, jobs and charges. Milliseconds since 1970. */
	now?: () => number;
}

/** A running gateway. It emits `request` and `job`. */
export interface Gateway extends EventEmitter<GatewayEvents> {
	/** Base URL of the API. */
	readonly url: string;
	/** Serves the same as `url`. */
	readonly backupUrl: string;
	readonly storageUrl: string;
	/** The first key. */
	readonly apiKey: string;
	/** The billing log: a charge for each job that was created, and for each other call that got its response. */
	readonly ledger: readonly Charge[];
	/** Every request to any host, in the order of arrival. */
	readonly requests: readonly RecordedRequest[];
	readonly jobs: Jobs;
	/** Makes requests of a route fail. */
	fault(rule: FaultRule): FaultHandle;
	/** Scripts the next turns of the chat models, each for one request. After that, they answer by themselves again. */
	script(...steps: ScriptStep[]): void;
	/** Serves a file by plain GET, and returns its link. */
	addMedia(name: string, bytes: Uint8Array, contentType: string): string;
	/** Closes everything, including open connections and unfinished jobs. */
	close(): Promise<void>;
}

const host = '127.0.0.1';

/** Starts the whole service on loopback. */
export async function startGateway({
	port = 0,
	backupPort = 0,
	storagePort = 0,
	publicStorageUrl,
	keys = { 'demo-key': {} },
	jobSeconds = 6,
	linkSeconds = limits.resultUrlHours * 3600,
	render,
	draw = drawPicture,
	answerMilliseconds = 0,
	tokenMilliseconds = 0,
	idempotencyHeader,
	now = Date.now,
}: GatewayOptions = {}): Promise<Gateway> {
	const events = new EventEmitter<GatewayEvents>();
	const requests: RecordedRequest[] = [];
	for (const key of Object.keys(keys)) witness.emit('key', key);
	events.on('request', (request) => witness.emit('request', request));
	if (process.env.SHOW_REQUESTS) logEvents(events, (text) => process.stderr.write(text));
	const faults = new Faults();
	const traffic = { requests, events, faults };
	const script: ScriptStep[] = [];
	const media = new Map<string, StoredFile>();
	const images = new Map<string, StoredFile>();
	const accounts = new Accounts(keys, now);
	const jobs = new Jobs(events, now);
	const links = new Links(linkSeconds, now);
	const renderer = new Renderer();
	const closing = new AbortController();
	// Every job that is under way listens for the close.
	setMaxListeners(Infinity, events, closing.signal);
	const production = new Production(jobs, {
		jobSeconds,
		render: render ?? (async (spec) => await renderer.render(spec)),
		closing: closing.signal,
	});

	const api = createHost('api', traffic);
	const backup = createHost('backup', traffic);
	const storage = createHost('storage', traffic);
	const close = async (): Promise<void> => {
		closing.abort();
		await Promise.all([api, backup, storage, renderer].map((part) => part.close()));
	};
	try {
		serveStorage(storage, { jobs, links, images, media });
		const storageUrl = await storage.listen({ host, port: storagePort });
		const service = {
			accounts,
			idempotencyKeys: new IdempotencyKeys(idempotencyHeader),
			jobs,
			production,
			links,
			draw,
			images,
			storageUrl: publicStorageUrl ?? storageUrl,
			script,
			answerMilliseconds,
			tokenMilliseconds,
			now,
		};
		serveApi(api, service);
		serveApi(backup, service);
		const url = await api.listen({ host, port });
		const backupUrl = await backup.listen({ host, port: backupPort });

		return Object.assign(events, {
			url,
			backupUrl,
			storageUrl,
			apiKey: Object.keys(keys)[0],
			ledger: accounts.ledger,
			requests,
			jobs,
			fault: (rule: FaultRule) => faults.add(rule),
			script: (...steps: ScriptStep[]) => void script.push(...steps),
			addMedia: (name: string, bytes: Uint8Array, contentType: string) => {
				media.set(name, storedFile(bytes, contentType));
				return storageUrl + mediaPath(name);
			},
			close,
		});
	} catch (error) {
		await close();
		throw error;
	}
}
