import { FileEnd, type Parsing } from './fileEnd';

/** Boxes that may occur at the top level of an mp4, QuickTime, AVIF or HEIC file (ISO/IEC 14496-12, 6.2.3). */
const topBoxes = new Set(
	'ftyp styp moov moof mdat mfra free skip wide pnot udta uuid meta meco pdin sidx ssix prft emsg'.split(
		' ',
	),
);

/**
 * Follows the top-level boxes of an mp4 or a similar file. A file that ends in the middle of a box is cut, whatever
 * length its storage host announced. Without the index of its tracks (`moov`) or pictures (`meta`), nothing can open it.
 */
export class BoxesEnd extends FileEnd {
	private readonly seen = new Set<string>();

	protected override *parse(): Parsing {
		for (;;) {
			this.state = this.stateAtEnd;
			yield* this.more();
			// Stray bytes after a playable file prove nothing. The end of a fragmented one is not known.
			const mayBeStray = this.hasIndex && this.seen.has('mdat') && !this.seen.has('moof');
			this.state = mayBeStray ? 'unknown' : 'cut';
			const header = yield* this.read(8);
			const size = header.readUInt32BE();
			const name = header.toString('latin1', 4);
			if (!topBoxes.has(name) || (size > 1 && size < 8)) break;
			this.seen.add(name);
			this.state = 'cut';
			if (size === 1) yield* this.skip(Number((yield* this.read(8)).readBigUInt64BE()) - 16);
			else if (size > 0) yield* this.skip(size - 8);
			else {
				// It extends to the end of the file.
				this.state = this.stateAtEnd;
				return;
			}
		}
		this.state = 'unknown';
	}

	private get hasIndex(): boolean {
		return this.seen.has('moov') || this.seen.has('meta');
	}

	private get stateAtEnd() {
		return this.hasIndex ? 'whole' : 'lacksIndex';
	}
}
