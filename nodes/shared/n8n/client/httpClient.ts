import { randomUUID } from 'crypto';
import type {
	IAdditionalCredentialOptions,
	ICredentialDataDecryptedObject,
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IN8nHttpFullResponse,
	ISupplyDataFunctions,
} from 'n8n-workflow';
import { sleep } from 'n8n-workflow';
import { AdaptiveLimit } from '../../service/client/adaptiveLimit';
import { type Clock, type Http, type Runtime } from '../../service/client/http';
import { abortable } from '../../service/client/timeouts';
import { maxParallelImages } from '../../service/protocol/bounds';
import { encodedForm } from './multipart';

/** Node.js's Readable, taken from n8n's signatures, because n8n Cloud does not allow importing it. */
export type Readable = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Buffer
>;

export const credentialName = 'modelGatewayApi';

export const clock: Clock = {
	now: () => Date.now(),
	async sleep(milliseconds, signal) {
		// In older versions, n8n's sleep ignores the signal.
		await abortable(sleep(milliseconds, signal), signal);
	},
};

export type NodeContext = IExecuteFunctions | ILoadOptionsFunctions | ISupplyDataFunctions;

export interface N8nRuntime extends Runtime {
	/** A file as n8n's binary store takes it: a stream or, before the first response, its bytes. */
	toStore(bytes: AsyncIterable<Uint8Array>): Promise<Readable | Buffer>;
	/** Limits the images that this run of the node downloads at a time. */
	imageDownloads: AdaptiveLimit;
}

/** @param credential with the key, which is added only to the requests that need it */
export function n8nRuntime(
	context: NodeContext,
	credential: ICredentialDataDecryptedObject,
): N8nRuntime {
	// Otherwise, n8n would load the credential from its database and decrypt it for every request.
	const credentialOptions: IAdditionalCredentialOptions = {
		credentialsDecrypted: { id: '', name: '', type: credentialName, data: credential },
	};
	let streamClass: { from(bytes: AsyncIterable<Uint8Array>): Readable } | undefined;

	/** The header that n8n made of the credential. It is kept for the run, because signing takes long. */
	const signature: IDataObject = {};

	const sign = async (options: IHttpRequestOptions): Promise<unknown> => {
		// Newer versions of n8n replace the request's signal by that of Stop, which would disable our timeouts.
		const contextWithSignal = Object.create(context, {
			getExecutionCancelSignal: { value: () => options.abortSignal },
		}) as IExecuteFunctions;
		const send = context.helpers.httpRequestWithAuthentication;
		const response: unknown = await send.call(
			contextWithSignal,
			credentialName,
			options,
			credentialOptions,
		);
		// n8n adds the header to the object that it was given.
		signature.Authorization = options.headers?.Authorization;
		return response;
	};

	const http: Http = async (request) => {
		const { authenticated, signal, headers, body: given, ...rest } = request;
		const form = given instanceof FormData ? await encodedForm(given, randomUUID()) : undefined;
		const options: IHttpRequestOptions = {
			...rest,
			body: form?.body ?? (given as string | undefined),
			// A copy, since the caller may reuse its headers for another host.
			headers: { ...headers, ...form?.headers, ...(authenticated && signature) },
			abortSignal: signal,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			sendCredentialsOnCrossOriginRedirect: false,
		};
		const needsNoSigning = !authenticated || signature.Authorization;
		const send = needsNoSigning ? context.helpers.httpRequest : sign;
		const response = (await send(options)) as IN8nHttpFullResponse;

		const body = response.body as Readable;
		// TypeScript does not type `constructor`.
		streamClass = body.constructor as unknown as typeof streamClass;
		// The reader of the body gets the error of a broken connection. Before there is a reader, it would crash n8n.
		body.on('error', () => undefined);
		return {
			status: response.statusCode,
			headers: lowerCase(response.headers),
			body,
			close: () => void body.destroy(),
		};
	};

	return {
		http,
		clock,
		random: Math.random,
		signal: stopSignalOf(context),
		async toStore(bytes) {
			if (streamClass !== undefined) return streamClass.from(bytes);
			// No request came before: the file came in place of its link, and an earlier pass has stored it.
			const parts: Uint8Array[] = [];
			for await (const part of bytes) parts.push(part);
			return Buffer.concat(parts);
		},
		imageDownloads: new AdaptiveLimit(maxParallelImages),
	};
}

/** Aborts when the user presses Stop. */
export function stopSignalOf(context: NodeContext): AbortSignal | undefined {
	return 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
}

function lowerCase(headers: object): Record<string, string> {
	const given: Record<string, string> = Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
	);
	// Servers write addresses in UTF-8, which Node.js reads as Latin-1.
	const location = given.location && Buffer.from(given.location, 'latin1').toString();
	return location && !location.includes('\ufffd') ? { ...given, location } : given;
}
