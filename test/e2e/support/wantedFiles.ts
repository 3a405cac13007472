import type { Kind } from '../../n8n/corpus';

/** It passes, is refused with these words, or either of both, by whether we know the format. */
export type Verdict = 'passes' | 'either' | RegExp;

/** By how the file is declared: with its own type, as `application/octet-stream`, or named `.jpg` as an image. */
type Input = Verdict | { own: Verdict; unknown: Verdict; jpeg: Verdict };

/**
 * What becomes of a result: it is delivered as what it is, without a hint, with one, or with one unless it is an mp4;
 * delivered under the declared type, or as `application/octet-stream` with a hint; or an error with these words.
 */
export type Result = 'delivered' | 'hint' | 'hint unless mp4' | 'as declared' | RegExp;

interface Wanted {
	/** As a reference image, a first frame, an image to edit, or an image of a chat. */
	picture: Input;
	/** As a reference video. */
	video: Input;
	/** As the base64 of a generated image. */
	base64: Result;
	/** Behind the link of a generated image, which is declared as a PNG. */
	link: Result;
	/** Behind the link of a video, which is declared as an mp4 with its length. */
	result: Result;
	/** The same without its length; by default as with it. */
	resultWithoutLength?: Result;
}

const isPicture = /\bis an? .*(image|picture)/i;
const isClip = /\bis an? .*(video|animation|stream|clip)/i;
const isSound = /\bis an? .*(sound|audio)/i;
const endsInTheMiddle = /ends in the middle/;
const hasNoIndex = /ends in the middle|no index|moov/;
const isNoResult = /is no (image|video)|has no image|no data|\bis (an?|empty|JSON)\b/;
const severalFrames = /several frames/;

/** A text instead of a file: what a storage answers in its place, so it is fetched again, and then is an error. */
const text = (words: RegExp): Wanted => ({
	...{ picture: words, video: words, base64: isNoResult, link: isNoResult, result: isNoResult },
});

/** Another kind of file: it cannot be an input; as a result, it is delivered as what it is. */
const other = (words: RegExp, result: Result = 'hint'): Wanted => ({
	...{ picture: words, video: words, base64: result, link: result, result },
});

/** What becomes of a file of each kind, in each use. */
export const wanted: Record<Kind, Wanted> = {
	picture: {
		...{ picture: 'passes', video: isPicture },
		...{ base64: 'delivered', link: 'delivered', result: 'hint' },
	},
	// Only the declared type says that it is a picture.
	'picture without a signature': {
		picture: 'passes',
		video: { own: /\bis /, unknown: 'passes', jpeg: /\bis / },
		...{ base64: 'as declared', link: 'as declared', result: 'as declared' },
	},
	animation: {
		picture: { own: 'passes', unknown: 'passes', jpeg: severalFrames },
		video: 'passes',
		...{ base64: 'delivered', link: 'delivered', result: 'hint' },
	},
	'JPEG with more behind it': {
		...{ picture: 'passes', video: isPicture },
		...{ base64: 'delivered', link: 'delivered', result: 'hint' },
	},
	'picture that is cut': {
		...{ picture: endsInTheMiddle, video: isPicture },
		// A link is fetched again first.
		...{ base64: 'hint', link: 'hint', result: 'hint' },
	},
	clip: {
		...{ picture: isClip, video: 'passes' },
		...{ base64: 'hint', link: 'hint', result: 'hint unless mp4' },
	},
	// Its bytes may be unknown to us.
	'rare clip': {
		picture: { own: /\bis /, unknown: /\bis /, jpeg: 'either' },
		video: { own: 'passes', unknown: 'either', jpeg: 'either' },
		...{ base64: 'as declared', link: 'as declared', result: 'as declared' },
	},
	'clip without its index': {
		...{ picture: isClip, video: hasNoIndex },
		...{ base64: 'hint', link: 'hint', result: 'hint' },
		// The storage host announces the length when the rest is requested.
		resultWithoutLength: 'hint',
	},
	'clip that is cut': {
		...{ picture: isClip, video: endsInTheMiddle },
		...{ base64: 'hint', link: 'hint', result: /ends (in the middle|too early)/ },
	},
	sound: other(isSound),
	'web page': text(/is a web page/),
	XML: text(/is an? (XML|web page|text)/),
	JSON: text(/is (JSON|a JSON|a text)/),
	text: text(/base64 text|data URL|is a text/),
	PDF: other(/is a PDF/),
	archive: other(/is an? .*(archive|zip|gzip|document)/i),
	program: other(/is an? .*(program|executable)|\bis no /, 'as declared'),
	'unknown bytes': {
		// They may be of a format that only the service knows.
		picture: 'passes',
		video: { own: 'passes', unknown: 'passes', jpeg: /\bis / },
		...{ base64: 'as declared', link: 'as declared', result: 'as declared' },
	},
	'empty file': text(/is empty/),
};
