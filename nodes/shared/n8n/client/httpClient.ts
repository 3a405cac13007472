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
import { type Clock, type Http, type Runtime } from '../../gateway/client/http';
import { abortable } from '../../gateway/client/timeouts';

/** Node's Readable, taken from n8n's signatures, since n8n Cloud does not allow importing it. */
export type Readable = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Buffer
>;

export const credentialName = 'modelGatewayApi';

export const clock: Clock = {
	now: () => Date.now(),
	async sleep(milliseconds, signal) {
		// n8n's sleep obeys a signal in newer versions only.
		await abortable(sleep(milliseconds, signal), signal);
	},
};

/** The context that n8n gives a node to execute, to load options, or to supply an AI node. */
export type NodeContext = IExecuteFunctions | ILoadOptionsFunctions | ISupplyDataFunctions;

/** The gateway's runtime inside an n8n node. */
export interface N8nRuntime extends Runtime {
	/** A stream for n8n's binary store. At least one response must have arrived before. */
	toStream(bytes: AsyncIterable<Uint8Array>): Readable;
}

/** @param credential signs the requests that need the key */
export function n8nRuntime(
	context: NodeContext,
	credential: ICredentialDataDecryptedObject,
): N8nRuntime {
	// Without it, n8n would load and decrypt the credential from its database for every request.
	const credentialOptions: IAdditionalCredentialOptions = {
		credentialsDecrypted: { id: '', name: '', type: credentialName, data: credential },
	};
	let streamClass: { from(bytes: AsyncIterable<Uint8Array>): Readable } | undefined;

	/** The header in which n8n put the credential. Signing is expensive for small requests, so it is done once a run. */
	const signature: IDataObject = {};

	const sign = async (options: IHttpRequestOptions): Promise<unknown> => {
		// Newer versions of n8n replace the request's signal, which also carries time limits, by that of Stop.
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
		// n8n adds the header to the object that it is given.
		signature.Authorization = options.headers?.Authorization;
		return response;
	};

	const http: Http = async (request) => {
		const { authenticated, signal, headers, ...rest } = request;
		const options: IHttpRequestOptions = {
			...rest,
			// A copy, since the headers may be reused for another host.
			headers: { ...headers, ...(authenticated && signature) },
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
		// Node's own class, which may not be imported on n8n Cloud; TypeScript does not type `constructor`.
		streamClass = body.constructor as unknown as typeof streamClass;
		// A broken connection is reported to the reader of the body; without this, it would crash n8n before there is one.
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
		toStream(bytes) {
			if (streamClass === undefined) throw new TypeError('no request has been answered yet');
			return streamClass.from(bytes);
		},
	};
}

/** Aborts when the user presses Stop. */
export function stopSignalOf(context: NodeContext): AbortSignal | undefined {
	return 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
}

function lowerCase(headers: object): Record<string, string> {
	return Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
	);
}
