import { Mp4Boxes } from '../../../../nodes/shared/gateway/jobs/mp4';
import { box, largeBox, mp4Of } from '../../../support/boxes';
import { fc } from '../../../support/fuzz';

const read = (...pieces: Uint8Array[]) => {
	const boxes = new Mp4Boxes();
	for (const piece of pieces) boxes.push(piece);
	const { isMp4, isComplete: isWhole, isTruncated: isCut } = boxes;
	return { isMp4, isWhole, isCut };
};

const whole = { isMp4: true, isWhole: true, isCut: false };
const cut = { isMp4: true, isWhole: false, isCut: true };
const noMp4 = { isMp4: false, isWhole: false, isCut: false };

const content = Buffer.alloc(20, 7);
const start = box('ftyp', content);
const index = box('moov', content);
const media = box('mdat', content);
const file = mp4Of(1000);

describe('an mp4', () => {
	it.each<[string, Uint8Array[]]>([
		['of the usual boxes', [file]],
		['with its index at the end', [start, media, index]],
		['of QuickTime', [box('wide'), media, index]],
		['in fragments', [start, index, box('moof', content), media, box('moof', content), media]],
		['with room to spare', [start, box('free'), index, box('skip', content), media]],
		['with empty media', [start, index, box('mdat')]],
		['with a large box', [start, index, largeBox('mdat', content)]],
		['whose last box goes on to the end', [start, index, box('mdat', content, 0)]],
	])('recognises as whole: %s', (_, pieces) => {
		expect(read(...pieces)).toEqual(whole);
	});

	it.each<[string, Uint8Array[]]>([
		['in its media', [start, index, media.subarray(0, -1)]],
		['in its first box', [start.subarray(0, 10)]],
		['within a header', [start, index, media.subarray(0, 5)]],
		['within the size of a large box', [start, index, largeBox('mdat', content).subarray(0, 12)]],
	])('recognises as cut when it ends %s', (_, pieces) => {
		expect(read(...pieces)).toEqual(cut);
	});

	it('is whole between two boxes only when its index has arrived', () => {
		expect(read(start, media)).toEqual({ isMp4: true, isWhole: false, isCut: false });
	});

	it('is neither whole nor cut with something unknown at its end', () => {
		expect(read(file, Buffer.from('\0\0\0\0\0\0\0\0\0\0'))).toEqual({
			...{ isMp4: true, isWhole: false, isCut: false },
		});
	});

	it.each([1, 3, 7])('is whole although %i stray bytes follow it', (count) => {
		const stray = Buffer.alloc(count, 7);
		expect(read(start, index, media, stray).isCut).toBe(false);
		expect(read(start, media, index, stray).isCut).toBe(false);
		expect(read(start, index, stray)).toEqual(cut);
		expect(read(start, index, box('moof', content), media, stray)).toEqual(cut);
	});

	it('becomes whole with its last byte, however its bytes are cut into pieces', () => {
		const sample = Buffer.concat([start, largeBox('mdat', content), box('free'), index]);
		fc.assert(
			fc.property(fc.array(fc.nat(sample.length)), (places) => {
				const ends = [...places.sort((a, b) => a - b), sample.length];
				const boxes = new Mp4Boxes();
				let begin = 0;
				for (const end of ends) {
					boxes.push(sample.subarray(begin, end));
					expect(boxes.isMp4).toBe(end < 8 ? undefined : true);
					expect(boxes.isComplete).toBe(end === sample.length);
					begin = end;
				}
			}),
		);
	});

	it('is followed beyond 4 GB', () => {
		const header = Buffer.alloc(16);
		header.writeUInt32BE(1);
		header.write('mdat', 4);
		header.writeBigUInt64BE(5_000_000_016n, 8);
		const boxes = new Mp4Boxes();
		for (const piece of [start, index, header]) boxes.push(piece);
		const million = Buffer.alloc(1_000_000);
		for (let count = 0; count < 5000; count++) {
			expect(boxes.isComplete).toBe(false);
			boxes.push(million);
		}
		expect(boxes.isComplete).toBe(true);
	});
});

describe('a file that is no mp4', () => {
	it.each<[string, Uint8Array]>([
		['a page', Buffer.from('<!DOCTYPE html><html></html>')],
		['JSON', Buffer.from('{"error":{"message":"no"}}')],
		['an error of a storage', Buffer.from('<?xml version="1.0"?><Error/>')],
		['a picture', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')],
		['WebM', Buffer.from('\x1aE\xdf\xa3\x9fB\x86\x81', 'latin1')],
		['zeros', Buffer.alloc(100)],
		['a box with an impossible size', box('ftyp', content, 7)],
	])('is not taken for an mp4: %s', (_, bytes) => {
		expect(read(bytes)).toEqual(noMp4);
		expect(read(bytes, file)).toEqual(noMp4);
	});

	it('is not decided before eight bytes have arrived', () => {
		expect(read()).toEqual({ isMp4: undefined, isWhole: false, isCut: false });
		expect(read(Buffer.from('<html>'))).toMatchObject({ isMp4: undefined });
		expect(read(Buffer.from('<html>'), Buffer.from('<b'))).toEqual(noMp4);
	});

	it('never throws, whatever the bytes are', () => {
		fc.assert(
			fc.property(fc.array(fc.uint8Array()), fc.boolean(), (pieces, isMp4) => {
				const { isWhole, isCut } = read(...(isMp4 ? [start] : []), ...pieces);
				expect(isWhole && isCut).toBe(false);
			}),
		);
	});
});
