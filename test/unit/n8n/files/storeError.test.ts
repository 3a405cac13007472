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

	it('repeats the message of n8n when storing a file fails for another reason', () => {
		const message = `${'its size exceeds the limit. '.repeat(10)}Consider increasing N8N_BINARY_DATA_DATABASE_MAX_FILE_SIZE`;
		const record = recordFor(message);
		expect(record.message).toContain('N8N_BINARY_DATA_DATABASE_MAX_FILE_SIZE');
		expect(record.advice).toMatch(/^Check n8n.s binary data storage/);
	});
});
