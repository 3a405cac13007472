import { FileEnd } from '../../../../nodes/shared/service/files/fileEnd';
import { boxes } from '../../../../nodes/shared/service/files/mp4';
import { box, largeBox, mp4Of } from '../../../support/files/boxes';
import { fc } from '../../../support/data/fuzz';

const read = (...chunks: Uint8Array[]) => {
	const end = new FileEnd(boxes);
	for (const chunk of chunks) end.push(chunk);
	return end.state;
};

const content = Buffer.alloc(20, 7);
const start = box('ftyp', content);
const index = box('moov', content);
const media = box('mdat', content);
const file = mp4Of(1000);

describe('mp4 files', () => {
	it.each<[string, Uint8Array[]]>([
		['with its index at the end', [start, media, index]],
		['in fragments', [start, index, box('moof', content), media, box('moof', content), media]],
		['with a large box', [start, index, largeBox('mdat', content)]],
		['whose last box extends to the end', [start, index, box('mdat', content, 0)]],
	])('recognises a complete mp4: %s', (_, chunks) => {
		expect(read(...chunks)).toBe('whole');
	});

	it.each<[string, Uint8Array[]]>([
		['in its media', [start, index, media.subarray(0, -1)]],
		['in its first box', [start.subarray(0, 10)]],
		['within the size of a large box', [start, index, largeBox('mdat', content).subarray(0, 12)]],
	])('recognises a truncated mp4 that ends %s', (_, chunks) => {
		expect(read(...chunks)).toBe('cut');
	});

	it.each([1, 3, 7])(
		'does not take a complete mp4 for truncated when %i stray bytes follow it',
		(count) => {
			const stray = Buffer.alloc(count, 7);
			expect(read(start, index, media, stray)).toBe('unknown');
			expect(read(start, media, index, stray)).toBe('unknown');
			expect(read(start, index, stray)).toBe('cut');
			expect(read(start, index, box('moof', content), media, stray)).toBe('cut');
		},
	);

	it('takes an mp4 for complete with its last byte, however its bytes are cut into chunks', () => {
		const sample = Buffer.concat([start, largeBox('mdat', content), box('free'), index]);
		fc.assert(
			fc.property(fc.array(fc.nat(sample.length)), (places) => {
				const ends = [...places.sort((a, b) => a - b), sample.length];
				const end = new FileEnd(boxes);
				let offset = 0;
				for (const place of ends) {
					end.push(sample.subarray(offset, place));
					expect(end.state === 'whole').toBe(place === sample.length);
					offset = place;
				}
			}),
		);
	});

	it('follows an mp4 beyond 4 GB', () => {
		const header = Buffer.alloc(16);
		header.writeUInt32BE(1);
		header.write('mdat', 4);
		header.writeBigUInt64BE(5_000_000_016n, 8);
		const end = new FileEnd(boxes);
		for (const chunk of [start, index, header]) end.push(chunk);
		const million = Buffer.alloc(1_000_000);
		for (let count = 0; count < 5000; count++) {
			expect(end.state).toBe('cut');
			end.push(million);
		}
		expect(end.state).toBe('whole');
	});
});

describe('other files', () => {
	it.each<[string, Uint8Array]>([
		['a page', Buffer.from('<!DOCTYPE html><html></html>')],
		['zeros', Buffer.alloc(100)],
		['a box with an impossible size', box('ftyp', content, 7)],
	])('does not take %s for an mp4', (_, bytes) => {
		expect(read(bytes)).toBe('unknown');
		expect(read(bytes, file)).toBe('unknown');
	});
});
