import type { FieldRule } from './fields';

export const mediaTypes = ['reference_image', 'reference_video', 'first_frame'] as const;
export type MediaType = (typeof mediaTypes)[number];

export const fileOfMedium: Readonly<Record<MediaType, 'image' | 'video'>> = {
	reference_image: 'image',
	reference_video: 'video',
	first_frame: 'image',
};

/** "Resources", media item: the types that may have a `reference_voice`, and its limits. */
export const referenceVoice = {
	mediaTypes: ['reference_image', 'reference_video'] as readonly MediaType[],
	fileTypes: ['wav', 'mp3'] as readonly string[],
	seconds: { min: 1, max: 10 },
} as const;

/** The request that a reference-to-video model accepts ("Endpoints" 1, per-model tables, and "Limits"). */
export interface ReferenceVideoModel {
	mediaTypes: readonly MediaType[];
	/** Reference images and videos together. The specification states a minimum for one model only. */
	references: { min?: number; max: number };
	firstFrames: { max: number };
	/** In characters. */
	prompt?: { max: number };
	voice: boolean;
	/** Whether the specification says that a prompt may name media by number, such as "image 1". */
	numberedMedia: boolean;
	/** The duration is in seconds. */
	parameters: {
		resolution: FieldRule;
		ratio?: FieldRule;
		duration: FieldRule;
		prompt_extend: FieldRule;
		watermark: FieldRule;
		seed?: FieldRule;
	};
	/** In seconds. */
	maxDurationWithVideo?: number;
	ignoredWithFirstFrame?: 'ratio';
}

const resolutions = ['720P', '1080P'] as const;
const duration = { type: 'integer', default: 5, min: 2, max: 15 } as const;
const promptExtend = { type: 'boolean', default: true } as const;
const watermark = { type: 'boolean', default: false } as const;
export const referenceVideoModels: Readonly<Record<string, ReferenceVideoModel>> = {
	'alpha-1.1-r2v': {
		mediaTypes: ['reference_image'],
		references: { min: 1, max: 9 },
		firstFrames: { max: 0 },
		voice: false,
		numberedMedia: false,
		parameters: {
			resolution: { type: 'string', default: '720P', values: resolutions },
			duration,
			prompt_extend: promptExtend,
			watermark,
			seed: { type: 'integer', min: 0, max: 2_147_483_647 },
		},
	},
	'beta-2.7-r2v': {
		mediaTypes,
		references: { max: 5 },
		firstFrames: { max: 1 },
		prompt: { max: 5000 },
		voice: true,
		numberedMedia: true,
		parameters: {
			resolution: { type: 'string', default: '1080P', values: resolutions },
			ratio: {
				type: 'string',
				default: '16:9',
				values: ['16:9', '9:16', '1:1', '4:3', '3:4'],
			},
			duration,
			prompt_extend: promptExtend,
			watermark,
		},
		maxDurationWithVideo: 10,
		ignoredWithFirstFrame: 'ratio',
	},
};

/** "Endpoints" 11: the models of `/v1/videos`. */
export const videoModels: Readonly<Record<string, string>> = {
	'vid-3.1': 'Portrait, standard',
	'vid-3.1-fl': 'Portrait, frame-to-video',
	'vid-3.1-fast': 'Portrait, fast',
	'vid-3.1-fast-fl': 'Portrait, fast, frame-to-video',
	'vid-3.1-landscape': 'Landscape, standard',
	'vid-3.1-landscape-fl': 'Landscape, frame-to-video',
	'vid-3.1-landscape-fast': 'Landscape, fast',
	'vid-3.1-landscape-fast-fl': 'Landscape, fast, frame-to-video',
};

/** How the IDs of frame-to-video models end ("Endpoints" 11). */
export const frameToVideoSuffix = '-fl';

/** Those of "Endpoints" 1, and those of "Endpoints" 11. */
export type ModelKind = 'referenceVideo' | 'video';

interface KnownModel {
	kind: ModelKind;
	/** The input from which it makes a video, or the kind of video. */
	meaning: string;
}

/** The models whose purpose the specification states. */
export const knownModels: ReadonlyMap<string, KnownModel> = new Map<string, KnownModel>([
	...Object.entries(referenceVideoModels).map(([id, { mediaTypes: types, references }]) => {
		const kinds = types.includes('reference_video') ? 'images and videos' : 'images';
		const meaning = `Up to ${references.max} ${kinds}`;
		return [id, { kind: 'referenceVideo', meaning }] as const;
	}),
	...Object.entries(videoModels).map(([id, meaning]) => [id, { kind: 'video', meaning }] as const),
]);
