import type { Format } from './fileEnd';

/** Boxes at the top level of an mp4, QuickTime, AVIF or HEIC file (ISO/IEC 14496-12, 6.2.3). */
const topBoxes = new Set(
	'ftyp styp moov moof mdat mfra free skip wide pnot udta uuid meta meco pdin sidx ssix prft emsg'.split(
		' ',
	),
);

/**
 * A file that ends in the middle of a box is cut, whatever length its storage host announced. Nothing can open it
 * without the index of its tracks (`moov`) or pictures (`meta`).
 */
export const boxes: Format = function* (file) {
	const seen = new Set<string>();
	const hasIndex = () => seen.has('moov') || seen.has('meta');
	const stateAtEnd = () => (hasIndex() ? 'whole' : 'lacksIndex');
	for (;;) {
		file.state = stateAtEnd();
		// Stray bytes after a playable file prove nothing. The end of a fragmented one is not known.
		const mayBeStray = hasIndex() && seen.has('mdat') && !seen.has('moof');
		const header = yield { read: 8, begun: mayBeStray ? 'unknown' : 'cut' };
		const size = header.readUInt32BE();
		const name = header.toString('latin1', 4);
		if (!topBoxes.has(name) || (size > 1 && size < 8)) break;
		seen.add(name);
		file.state = 'cut';
		if (size === 0) {
			// It extends to the end of the file.
			file.state = stateAtEnd();
			return;
		}
		yield { skip: size === 1 ? Number((yield { read: 8 }).readBigUInt64BE()) - 16 : size - 8 };
	}
	file.state = 'unknown';
};
