import { UnusableResponse } from '../../../../nodes/shared/service/client/response';

/** Runs work that has to find a response unusable, and returns its error. */
export function unusable(work: () => unknown): UnusableResponse {
	try {
		work();
	} catch (error) {
		expect(error).toBeInstanceOf(UnusableResponse);
		return error as UnusableResponse;
	}
	throw new Error('it was usable');
}
