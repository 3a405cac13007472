import { Redaction } from '../../../../nodes/shared/gateway/client/redaction';
import { GatewayError } from '../../../../nodes/shared/gateway/errors/gatewayError';
import { noResponse, refused } from '../../../../nodes/shared/gateway/errors/requestErrors';
import { shown } from '../../../support/workflows/gatewayWorld';

const create = { purpose: 'create the video', cost: 'job' } as const;
const noKey = new Redaction('');
const responseOf = (status: number, text: string) => ({ status, headers: {}, text });
const undelivered = JSON.stringify({ error: { code: 'write_response_body_failed' } });

describe('the advice on an order whose outcome is unknown', () => {
	it.each([
		['no response arrived', noResponse(create, new Error('read ECONNRESET'), noKey)],
		['the response could not be delivered', refused(create, responseOf(500, undelivered))],
	])(
		'says that an order without a response is not charged but its job may still run: %s',
		(_, error) => {
			const { advice, billed, retry_can_help } = shown(error).record;
			expect([billed, retry_can_help]).toEqual(['unknown', false]);
			expect(advice).toMatch(/does not bill a call without a response/);
			expect(advice).toMatch(/does not say whether its job runs all the same/);
			expect(advice).toMatch(/Order again only if a second video is acceptable/);
			expect(advice).not.toMatch(/run again|look into/i);
		},
	);

	it('says that more than one job may have been accepted when the user chose to resend', () => {
		const lost = new Error('read ECONNRESET');
		const { failure } = noResponse({ ...create, resendsLost: true }, lost, noKey);
		const outcome = { isUnbilled: true, isResent: true, requests: 2 };
		const error = new GatewayError({ ...failure, mayBeAccepted: outcome });
		const { advice } = shown(error).record;
		expect(advice).toMatch(/more than one job may have been accepted/);
		expect(advice).toMatch(/Order again only if a second video is acceptable\./);
		expect(advice).not.toMatch(/was not sent again|Send Again/);
	});
});
