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

/** Node's own stream, as n8n's signatures name it: importing it is not allowed on n8n Cloud. */
export type Readable = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Buffer
>;

export const credentialName = 'modelGatewayApi';

export const clock: Clock = {
	now: () => Date.now(),
	async sleep(milliseconds, signal) {
		// n8n's sleep heeds a signal in newer versions only.
		await abortable(sleep(milliseconds, signal), signal);
	},
};

/** What n8n hands to a node: to execute, to fill a list, or to supply an AI node. */
export type NodeContext = IExecuteFunctions | ILoadOptionsFunctions | ISupplyDataFunctions;

/** The runtime as an n8n node sees it. */
export interface N8nRuntime extends Runtime {
	/** A stream for n8n's binary store. At least one request must have been answered before. */
	toStream(bytes: AsyncIterable<Uint8Array>): Readable;
}

/** @param credential what the requests with the key are signed with */
export function n8nRuntime(
	context: NodeContext,
	credential: ICredentialDataDecryptedObject,
): N8nRuntime {
	// Without it n8n asks its database for the credential, and decrypts it, for every single request.
	const known: IAdditionalCredentialOptions = {
		credentialsDecrypted: { id: '', name: '', type: credentialName, data: credential },
	};
	let streamClass: { from(bytes: AsyncIterable<Uint8Array>): Readable } | undefined;

	/** What n8n has made of the credential. To sign is much of the work for a small request: once serves the run. */
	const signature: IDataObject = {};

	const sign = async (options: IHttpRequestOptions): Promise<unknown> => {
		// Newer versions put the signal of Stop in the place of the request's own, which knows of time limits too.
		const own = Object.create(context, {
			getExecutionCancelSignal: { value: () => options.abortSignal },
		}) as IExecuteFunctions;
		const send = context.helpers.httpRequestWithAuthentication;
		const answer: unknown = await send.call(own, credentialName, options, known);
		// n8n writes into the headers that it is given.
		signature.Authorization = options.headers?.Authorization;
		return answer;
	};

	const http: Http = async (request) => {
		const { authenticated, signal, headers, ...rest } = request;
		const options: IHttpRequestOptions = {
			...rest,
			// A copy, since the headers may be used again for another host.
			headers: { ...headers, ...(authenticated && signature) },
			abortSignal: signal,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			sendCredentialsOnCrossOriginRedirect: false,
		};
		const isSigned = !authenticated || signature.Authorization;
		const send = isSigned ? context.helpers.httpRequest : sign;
		const response = (await send(options)) as IN8nHttpFullResponse;

		const body = response.body as Readable;
		// Node's own class, which may not be imported on n8n Cloud; its type is not to be had from an instance.
		streamClass = body.constructor as unknown as typeof streamClass;
		// A broken connection is reported where the body is read; nobody may be reading it yet.
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
