import type { JobKind } from '../nodes/shared/service/protocol/jobs';
import type { MediaType } from '../nodes/shared/service/protocol/models';

/** One media item, as requested. */
export interface MediaItem {
	type: MediaType;
	url: string;
	voiceUrl?: string;
}

/** The content of a valid request: everything that is needed to make the video. */
export interface VideoOrder {
	kind: JobKind;
	model: string;
	prompt: string;
	media: MediaItem[];
	/** Pixels of the shorter side. */
	shortSide: number;
	/** `width:height`. A first frame overrides it. */
	ratio: string;
	seconds: number;
	watermark: boolean;
	seed?: number;
}
