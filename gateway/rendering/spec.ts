/** Pixels. */
export interface Size {
	width: number;
	height: number;
}

export interface ReferenceMedia {
	type: 'reference_image' | 'reference_video' | 'first_frame';
	bytes: Uint8Array;
}

/** The specification of a video. The same spec gives the same frames. */
export interface RenderSpec extends Size {
	/** Length of the video. (Width and height must be even, because H.264 stores colour for 2x2 pixels.) */
	seconds: number;
	/** Drawn over the frames, unless it is empty. A long caption ends in an ellipsis. */
	caption: string;
	/** Adds the "AI generated" mark at the bottom-right. */
	watermark: boolean;
	/** Another seed gives other camera moves and colours. */
	seed?: number;
	media: ReferenceMedia[];
}
