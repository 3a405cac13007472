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

/** How often a transfer may be interrupted, even if each try receives something. */
export const maxInterruptions = 100;
