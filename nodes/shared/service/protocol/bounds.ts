/**
 * All bounds on what others may send. Each is far above what a real service or user sends, and keeps one of them from
 * stopping n8n for everybody: SECURITY.md says who can cause what.
 */

// ── Responses of the gateway ─────────────────────────────────────────────────────────────────────

/**
 * Bounds of one response by what it carries: its characters, and its weight as `jsonBounds.ts` counts it.
 * - `document`: a created job, a list of models, an error. Real ones have a few kB, long lists of models 1 MB.
 * - `job`: the status of a job, or its content: some services put the video into it, as base64. One of 15 seconds
 *   ("Limits") has up to 40 MB.
 * - `text`: the answer of a chat. 128,000 streamed tokens have up to 45 MB, ten answers with a picture each more, and
 *   16,000 tokens with 20 alternatives each weigh 18 million.
 * - `files`: ten images of 20 MB as base64 have 280 million characters; 2,048 vectors of 3,072 numbers weigh 6 million.
 */
export const responseBounds = {
	document: { characters: 10_000_000, weight: 4_000_000 },
	job: { characters: 100_000_000, weight: 4_000_000 },
	text: { characters: 100_000_000, weight: 20_000_000 },
	files: { characters: 300_000_000, weight: 10_000_000 },
} as const;

export type ResponseKind = keyof typeof responseBounds;

/** In bytes, of all responses that this process reads at the same time. One may exceed it, so that it ends. */
export const maxHeldBytes = 100_000_000;

/** In bytes, of each response, which do not count: large responses never make a small one fail. */
export const freeBytes = 1_000_000;

/** Memory that a parsed JSON text takes. */
export const bytesPerWeight = 4;

/** In characters of a stream: reading them takes a few milliseconds. Between such parts, other work runs. */
export const maxEventsAtOnce = 20_000;

/** In bytes behind the end of a stream: they are read so that the service sees its response delivered. */
export const maxDrainedBytes = 1_000_000;

/** Levels of lists and objects in JSON: its readers recurse. */
export const maxDepth = 100;

/** Names in one object: readers look at each of them, and no object of the service has as many. */
export const maxNames = 10_000;

/** Lines of one event in a stream: short ones need many times their length in memory. */
export const maxEventLines = 100_000;

/** Choices, fields, tool calls and parts that are kept of a stream. */
export const maxKeptParts = 200_000;

// ── What is read in a response ───────────────────────────────────────────────────────────────────

/** In characters: more is neither compared nor shown. */
export const maxReasonLength = 2_000;

/** In characters: the title, heading or message of a page is at its beginning. */
export const maxMarkupLength = 20_000;

/** Values of an answer, the least nested first. */
export const maxReadValues = 2_000;

/** Lines of a stream in which images are looked for. */
export const maxImageLines = 20_000;

/** In characters, of texts in an answer that are opened when they are JSON. */
export const maxReadText = 500_000;

/** Answers of one chat, and images of one response: nobody can order as many. */
export const maxChoices = 1_000;
export const maxFoundImages = 1_000;

/** Links, files and long words of a text in which images are looked for: about 50 milliseconds. */
export const maxTextTokens = 10_000;

/** In characters of a text, without the files in it, in which links to images are looked for. */
export const maxLinkText = 2_000_000;

/** In characters: no server accepts a longer link, and parsing it takes long. */
export const maxLinkLength = 100_000;

/** In characters of the body: the record of a failure is the only one ("Errors"). */
export const maxRecordedLength = 1_000_000;

// ── Files of file hosts ──────────────────────────────────────────────────────────────────────────

/** In bytes: the largest file that is downloaded when its length is announced. */
export const maxFileBytes = 10_000_000_000;

/** In bytes: the largest file whose length is not announced. No video of 15 seconds ("Limits") comes near it. */
export const maxUnannouncedBytes = 2_000_000_000;

/** Images that are downloaded: bytes of each, bytes of all of one response, and their number. */
export const maxImageBytes = 250_000_000;
export const maxImagesBytes = 2_000_000_000;
export const maxImages = 100;

/** Images that one run of a node downloads at a time. */
export const maxParallelImages = 3;

/** In bytes per millisecond: a faster transfer may take longer than the user waits. */
export const minTransferRate = 64;

/** In milliseconds: the longest pause in a transfer, what any may take, and over which its rate is measured. */
export const transferMinute = 60_000;

/** In milliseconds: the time for an image, with the tries after an interruption. */
export const imagePatience = 5 * transferMinute;

/** Redirects that lead to a file. */
export const maxFileRedirects = 10;

/** New links that are requested for a file, when its link has expired. */
export const maxLinkRefreshes = 3;

/** Times that a transfer starts again from the first byte, when its host cannot resume. */
export const maxTransferRestarts = 5;
