import type { IBinaryData } from 'n8n-workflow';
import { hashOf } from '../../../../nodes/shared/n8n/orders/identity';

describe('the hash of a request', () => {
	const file: IBinaryData = {
		data: 'filesystem-v2',
		mimeType: 'image/png',
		bytes: 8,
		fileName: 'a.png',
		id: 'filesystem-v2:workflows/1/executions/1/binary_data/1',
	};

	it('the hash ignores the ID and the name of a file', () => {
		const fetchedAgain = { ...file, id: 'filesystem-v2:2', fileName: 'tmp7.png' };
		expect(hashOf({ media: [fetchedAgain] })).toBe(hashOf({ media: [file] }));
	});

	it.each<Partial<IBinaryData>>([{ bytes: 9 }, { mimeType: 'image/jpeg' }])(
		'the hash depends on the type and the size of a file: %j',
		(other) => {
			expect(hashOf([{ ...file, ...other }])).not.toBe(hashOf([file]));
		},
	);

	it('the hash depends on the whole content of a file that n8n keeps in the item', () => {
		const inItem = { data: 'AAAA', mimeType: 'image/png', bytes: 3 };
		expect(hashOf([{ ...inItem, data: 'AAAB' }])).not.toBe(hashOf([inItem]));
	});

	it('the hash depends on every field of an object of the user that looks like a file', () => {
		const style = { mimeType: 'image/png', data: 'AAAA', role: 'style' };
		expect(hashOf([{ ...style, role: 'subject' }])).not.toBe(hashOf([style]));
	});

	it('the hash depends on every other field', () => {
		expect(hashOf({ a: 1, b: [undefined] })).not.toBe(hashOf({ a: 1, b: [] }));
		expect(hashOf({ data: 'x' })).not.toBe(hashOf({ data: 'y' }));
	});
});
