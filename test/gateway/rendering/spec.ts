/** Pixels. */
export interface Size {
	width: number;
	height: number;
}

export interface ReferenceMedia {
	type: 'reference_image' | 'reference_video' | 'first_frame';
	bytes: Uint8Array;
}

/** What a video is made from. The same spec gives the same picture. */
export interface RenderSpec extends Size {
	/** Length of the video; width and height must be even, as H.264 stores colour for 2x2 pixels. */
	seconds: number;
	/** Drawn over the picture; long ones end in an ellipsis. Nothing is drawn for an empty one. */
	caption: string;
	/** Adds the "AI generated" mark at the bottom-right. */
	watermark: boolean;
	/** Another seed gives other camera moves and colours. */
	seed?: number;
	media: ReferenceMedia[];
}
