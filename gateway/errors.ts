import { errorCodes, refusals } from '../nodes/shared/service/protocol/errorCodes';

/** "Error object": part of every error response, and here also of a failed job. */
interface ErrorDetail {
	message: string;
	type: string;
	param: string | null;
	code: string;
}

/** The specification shows only `invalid_request_error`. The others are names of the wire format it comes from. */
function typeOf(status: number): string {
	if (status === 403) return 'permission_error';
	if (status === 429) return 'rate_limit_error';
	return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** A refusal by the service. The default message is the meaning of the code in the specification. */
export class ServiceError extends Error {
	readonly param: string | null;

	constructor(
		readonly status: number,
		readonly code: string,
		message: string = refusals[errorCodes[code]]?.meaning ?? code,
		{ param = null }: { param?: string | null } = {},
	) {
		super(message);
		this.param = param;
	}

	get detail(): ErrorDetail {
		const { message, status, param, code } = this;
		return { message, type: typeOf(status), param, code };
	}

	get body(): { error: ErrorDetail } {
		return { error: this.detail };
	}
}

export function invalidParameter(param: string, expected: string): ServiceError {
	return parameterError(param, `must be ${expected}`);
}

/**
 * An invalid parameter. The specification does not show its code; this one is ours.
 *
 * @param problem continues the name of the parameter, as in "must be …"
 */
export function parameterError(param: string, problem: string): ServiceError {
	return new ServiceError(400, 'invalid_parameter', `${param} ${problem}`, { param });
}
