import { fileTypeOf, longestTextHead, typeToDeliver, type FileType } from './fileType';

/** The first bytes of a file, which are kept until they show what it is. */
export class FileHead {
	private readonly chunks: Uint8Array[] = [];
	/** In bytes. */
	length = 0;
	/** With how many bytes it is looked at next. Each look copies them, and they may arrive one by one. */
	private enough: number;

	/**
	 * @param headLength how many bytes are enough for most types
	 * @param declaredType its MIME type as declared, used when the bytes are of no known type
	 */
	constructor(
		headLength: number,
		private readonly declaredType: string | undefined,
	) {
		this.enough = headLength;
	}

	push(bytes: Uint8Array): void {
		this.chunks.push(bytes);
		this.length += bytes.length;
	}

	/** The bytes, which are no longer kept. */
	release(): Uint8Array[] {
		this.length = 0;
		return this.chunks.splice(0);
	}

	/** What the file is, if no more bytes will come. */
	get type(): FileType {
		return typeToDeliver(this.bytes, this.declaredType);
	}

	/** Undefined while more bytes may show another type: some images are written as text, and comments may come first. */
	get typeSoFar(): FileType | undefined {
		if (this.length < this.enough) return undefined;
		this.enough = 2 * this.length;
		const { type } = this;
		return type.kind === 'text' && this.length < longestTextHead ? undefined : type;
	}

	/** Whether the type is sure although bytes are missing. */
	get isSure(): boolean {
		return fileTypeOf(this.bytes) !== undefined;
	}

	/** Of a text. */
	get beginning(): string {
		return new TextDecoder().decode(this.bytes.subarray(0, 2000));
	}

	private get bytes(): Buffer {
		return Buffer.concat(this.chunks);
	}
}
