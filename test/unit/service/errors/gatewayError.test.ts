import { stopped } from '../../../../nodes/shared/service/errors/gatewayError';
import { noResponse } from '../../../../nodes/shared/service/errors/requestErrors';
import { Redaction } from '../../../../nodes/shared/service/client/redaction';
import { shown } from '../../../support/workflows/gatewayWorld';

const create = { purpose: 'create the video', cost: 'job' } as const;
const noKey = new Redaction('');
const list = { purpose: 'list the models', cost: 'read' } as const;

/** As Node throws it. */
const networkError = (message: string, code?: string) =>
	Object.assign(new Error(message), { code });

describe('Stop', () => {
	it('reports Stop with the message that n8n expects', () => {
		expect(stopped().name).toBe('GatewayError');
		expect(shown(stopped()).record).toMatchObject({
			message: 'The execution was canceled',
			status: 0,
			billed: 'no',
		});
	});

	it('says at Stop whether a paid request may have been accepted', () => {
		const lost = noResponse(create, networkError('read ECONNRESET', 'ECONNRESET'), noKey);
		expect(shown(stopped(lost)).record).toMatchObject({
			billed: 'unknown',
			advice: shown(lost).record.advice,
		});
		expect(shown(stopped(noResponse(list, undefined, noKey))).record.billed).toBe('no');
	});
});
