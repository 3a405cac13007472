import { errorCodes } from '../../nodes/shared/gateway/protocol/errorCodes';

/** "Error object": what a failed call carries, and what we let a failed job carry. */
interface ErrorDetail {
	message: string;
	type: string;
	param: string | null;
	code: string;
}

/** Only `invalid_request_error` is shown; the others are the names of the wire format it comes from. */
function typeOf(status: number): string {
	if (status === 403) return 'permission_error';
	if (status === 429) return 'rate_limit_error';
	return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** A refusal by the service. Without a message, it says what the specification says of the code. */
export class ServiceError extends Error {
	readonly param: string | null;

	constructor(
		readonly status: number,
		readonly code: string,
		message = errorCodes[code]?.meaning ?? code,
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

/** A parameter that is not what the specification says. Its code is not shown: we took this one. */
export function invalidParameter(param: string, expected: string): ServiceError {
	return new ServiceError(400, 'invalid_parameter', `${param} must be ${expected}`, { param });
}
