import type { JobKind } from '../../nodes/shared/gateway/protocol/jobs';
import type { MediaType } from '../../nodes/shared/gateway/protocol/models';

/** One piece of reference media, as it was asked for. */
export interface MediaItem {
	type: MediaType;
	url: string;
	voiceUrl?: string;
}

/** What a well-formed request asks for: all that is needed to make the video. */
export interface VideoOrder {
	kind: JobKind;
	model: string;
	prompt: string;
	media: MediaItem[];
	/** Pixels of the shorter side. */
	shortSide: number;
	/** `width:height`. A first frame overrules it. */
	ratio: string;
	seconds: number;
	watermark: boolean;
	seed?: number;
}
