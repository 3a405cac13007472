import { badInput } from '../../../../nodes/shared/n8n/errors/badInput';
import { shown } from '../../../support/workflows/gatewayWorld';

describe('bad input', () => {
	it('names every problem at once, and says that nothing was charged', () => {
		const { record, reach } = shown(
			badInput([
				{ field: 'Prompt', problem: 'is empty' },
				{ field: 'Media 2: URL', problem: 'must be a public https link' },
			]),
		);
		expect(record).toMatchObject({
			message: 'Prompt is empty; Media 2: URL must be a public https link',
			status: 0,
			billed: 'no',
			retry_can_help: false,
		});
		expect(reach).toBe('none');
	});
});
