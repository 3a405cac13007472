/**
 * All bounds on what others may send. Each is far above what a real service or user sends, and keeps one of them from
 * stopping n8n for everybody: SECURITY.md says who can at most cause what. A small response is read however many large
 * ones arrive at the same time.
 */

// ── Responses of the gateway ─────────────────────────────────────────────────────────────────────

/**
 * One response, by what it carries: its characters, and what it may cost to parse it in the weights of `jsonBounds.ts`.
 * - `document`: a created job, a list of models, an error. Real ones have a few kB, long lists of models 1 MB.
 * - `job`: the status of a job, or its content: some services put the video into it, as base64. One of 15 seconds
 *   ("Limits") has up to 40 MB.
 * - `text`: the answer of a chat. 128,000 streamed tokens have up to 45 MB, ten answers with a picture each more, and
 *   16,000 tokens with 20 alternatives each weigh 18 million.
 * - `files`: images as base64, or vectors. Ten images of 20 MB have 280 million characters, 2,048 vectors of 3,072 numbers
 *   weigh 6 million.
 */
export const responseBounds = {
	document: { characters: 10_000_000, weight: 4_000_000 },
	job: { characters: 100_000_000, weight: 4_000_000 },
	text: { characters: 100_000_000, weight: 20_000_000 },
	files: { characters: 300_000_000, weight: 10_000_000 },
} as const;

export type ResponseKind = keyof typeof responseBounds;

/** In bytes, of all responses that this process reads at the same time. One of them may exceed it, so that it ends. */
export const maxHeldBytes = 100_000_000;

/** In bytes, of each response. They do not count: large responses never make a small one fail. */
export const freeBytes = 1_000_000;

/** In bytes: what a JSON text needs in memory once it is parsed, for each unit of its weight. */
export const bytesPerWeight = 4;

/** In characters of a stream: reading its events takes a few milliseconds. Between longer parts, other work runs. */
export const maxEventsAtOnce = 20_000;

/** In bytes, of what follows the end of a stream: it is read so that the service sees its response delivered. */
export const maxDrainedBytes = 1_000_000;

/** Levels of lists and objects in JSON: JSON.stringify and other readers of the value recurse. */
export const maxDepth = 100;

/** Names in one object: readers look at each of them, and no object of the service has as many. */
export const maxNames = 10_000;

/** Lines of one event in a stream: short ones need many times their length in memory. */
export const maxEventLines = 100_000;

/** Choices, fields, tool calls and parts that are kept of a stream. */
export const maxKeptParts = 200_000;

// ── What is read in a response ───────────────────────────────────────────────────────────────────

/** In characters of a reason: more is neither compared nor shown. */
export const maxReasonLength = 2_000;

/** In characters, of a page or XML: its title, heading or message is at the beginning. */
export const maxMarkupLength = 20_000;

/** Values of an answer among which its facts are looked for, the least nested first. */
export const maxReadValues = 2_000;

/** Lines of a stream in which images are looked for. */
export const maxImageLines = 20_000;

/** In characters, of the texts of an answer that are opened when they are JSON. */
export const maxReadText = 500_000;

/** Answers of one chat, and images of one response or text: nobody can order as many. The rest is not looked at. */
export const [maxChoices, maxFoundImages] = [1_000, 1_000];

/** Links, or files and long words, of a text in which images are looked for: about 50 milliseconds. */
export const maxTextTokens = 10_000;

/** In characters of a text, without the files in it, in which links to images are looked for: no answer has as many. */
export const maxLinkText = 2_000_000;

/** In characters: no server accepts a longer link, and parsing it takes long. */
export const maxLinkLength = 100_000;

/** In characters, of the body that the record of a failure keeps: it is the only record of the failure ("Errors"). */
export const maxRecordedLength = 1_000_000;

// ── Files of file hosts ──────────────────────────────────────────────────────────────────────────

/** In bytes: the largest file that is downloaded, if its host announces the length. */
export const maxFileBytes = 10_000_000_000;

/** In bytes: the largest file whose length is not announced. No video of 15 seconds ("Limits") comes near it. */
export const maxUnannouncedBytes = 2_000_000_000;

/** In bytes: the largest image that is downloaded. */
export const maxImageBytes = 250_000_000;

/** In bytes: what the images of one response have together, as far as they are downloaded. */
export const maxImagesBytes = 2_000_000_000;

/** The number of images of one response that are downloaded. */
export const maxImages = 100;

/** The number of images that one run of a node downloads at a time. */
export const maxParallelImages = 3;

/** In bytes per millisecond, or kB/s: what a transfer needs in order to take longer than the user waits. */
export const minTransferRate = 64;

/** In milliseconds: the longest pause in a transfer, the least that any may take, and over which its rate is measured. */
export const transferMinute = 60_000;

/** In milliseconds: the time for an image, with the tries after an interruption. */
export const imagePatience = 5 * transferMinute;

/** The number of redirects that lead to a file. */
export const maxFileRedirects = 10;

/** The number of new links that are requested for a file, when its link has expired. */
export const maxLinkRefreshes = 3;

/** How often a transfer starts again from the first byte, when its host cannot resume. */
export const maxTransferRestarts = 5;
