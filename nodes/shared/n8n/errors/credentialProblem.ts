import { GatewayError, type FailureKind } from '../../service/errors/gatewayError';
import { passes } from '../../service/protocol/errorCodes';
import { adviceOnCause } from './advice';

const again = 'Test again later.';
const otherServer = 'No gateway responds there: check the address, also its path.';

/** The advice on the kinds of failure that mean something else in the dialog. */
const inDialog: Partial<Record<FailureKind, string>> = {
	notFound: otherServer,
	unreadable: otherServer,
	excess: otherServer,
	cut: again,
	timeout: again,
};

/**
 * The message in the credential's dialog after a failed test: what is wrong, and what to do.
 * @param field label of the address that was tested
 */
export function credentialProblem(error: unknown, field: string): string {
	if (!(error instanceof GatewayError)) throw error;
	const { failure } = error;
	const { message, reach, kind } = failure;
	if (reach === 'none') return message;
	if (kind === 'invalidKey') return 'The API key is not valid. Copy it again, as a whole.';
	const mayPass = kind === undefined || passes(kind);
	const advice = mayPass ? again : (inDialog[kind] ?? adviceOnCause(failure, `the ${field}`));
	return `${message.replace('Could not list the models', field)}. ${advice}`;
}
