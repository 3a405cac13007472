import { recordOf } from '../../../../nodes/shared/n8n/errors/errorRecord';
import { storeError } from '../../../../nodes/shared/n8n/files/storeError';

describe('a file that n8n could not store', () => {
	const recordFor = (message: string) =>
		recordOf(storeError(new Error(message), 'download the video of job j', 'video'));

	it.each(['ENOSPC: no space left on device, write', 'EDQUOT: disk quota exceeded, write'])(
		'says that n8n has no space left for files: %s',
		(message) => {
			expect(recordFor(message)).toMatchObject({
				message: `Could not download the video of job j: n8n could not store it: ${message}`,
				advice: expect.stringMatching(/^n8n has no space left for files.*not lost/),
				billed: 'yes',
				retry_can_help: true,
			});
		},
	);
});
