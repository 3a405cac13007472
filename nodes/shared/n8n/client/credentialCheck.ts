import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import type { Connection } from '../../service/client/connection';
import { Gateway } from '../../service/client/gateway';
import type { Http } from '../../service/client/http';
import { GatewayError, type FailureKind } from '../../service/errors/gatewayError';
import { listModels } from '../../service/models/list';
import { passes } from '../../service/protocol/errorCodes';
import { adviceOnCause } from '../errors/advice';
import { connectionFrom } from './connection';
import { clock, type Readable } from './httpClient';

/** Milliseconds for one address: a user waits at the dialog. */
const testTimeout = 15_000;

/**
 * Lists the models at each address of a credential. Nodes name it in `testedBy`, because the `test` of a credential type
 * can only show the error code of an address that does not respond.
 */
export async function modelGatewayApiTest(
	this: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	let tested = 'Base URL';
	try {
		const { backupUrl, prices, ...connection } = connectionFrom(data);
		await listModelsAt(connection, this);
		tested = 'Backup URL';
		if (backupUrl !== undefined) await listModelsAt({ ...connection, baseUrl: backupUrl }, this);
		const [problem] = prices?.problems ?? [];
		if (problem !== undefined) {
			const message = `The connection works, but not Prices (JSON): ${problem}`;
			return { status: 'Error', message };
		}
		return { status: 'OK', message: 'Connection successful!' };
	} catch (error) {
		return { status: 'Error', message: credentialProblem(error, tested) };
	}
}

async function listModelsAt(
	connection: Connection,
	context: ICredentialTestFunctions,
): Promise<void> {
	const http = httpOf(context, connection.key);
	const gateway = new Gateway(connection, { http, clock, random: Math.random });
	await listModels(gateway, { timeout: testTimeout, retries: 0 });
}

/** The only HTTP helper that n8n gives to a credential test neither adds the key nor knows signals. */
function httpOf({ helpers }: ICredentialTestFunctions, key: string): Http {
	return async ({ method, url, headers, timeout, signal }) => {
		const { statusCode, body, ...response } = (await helpers.request({
			method,
			uri: url,
			timeout,
			useStream: true,
			headers: { ...headers, Authorization: `Bearer ${key}` },
			resolveWithFullResponse: true,
			simple: false,
			followRedirect: false,
		})) as { statusCode: number; headers: Record<string, string>; body: Readable };
		const close = () => void body.destroy();
		// The reader of the body gets its errors. Without a listener, they would crash n8n.
		body.on('error', () => undefined);
		signal?.addEventListener('abort', close, { once: true });
		if (signal?.aborted) close();
		return { status: statusCode, headers: response.headers, body, close };
	};
}

const again = 'Test again later.';
const otherServer = 'No gateway responds there: check the address, also its path.';

/** The advice on kinds of failure that mean something else in the dialog. */
const inDialog: Partial<Record<FailureKind, string>> = {
	notFound: otherServer,
	unreadable: otherServer,
	excess: otherServer,
	cut: again,
	timeout: again,
};

/** @param field label of the address that was tested */
function credentialProblem(error: unknown, field: string): string {
	if (!(error instanceof GatewayError)) throw error;
	const { failure } = error;
	const { message, reach, kind } = failure;
	if (reach === 'none') return message;
	if (kind === 'invalidKey') return 'The API key is not valid. Copy it again, as a whole.';
	const mayPass = kind === undefined || passes(kind);
	const advice = mayPass ? again : (inDialog[kind] ?? adviceOnCause(failure, `the ${field}`));
	return `${message.replace('Could not list the models', field)}. ${advice}`;
}
