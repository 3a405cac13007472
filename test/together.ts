/**
 * Runs test files of a suite one after another in the same realm: see jest.together.config.js. Hooks that a file has
 * at its top level belong to its `describe`.
 */
import path from 'node:path';

/** Their paths from here. */
declare const together: { files: string[] };

describe.each(together.files)('%s', (file) => {
	jest.requireActual(path.join(__dirname, file));
});
