/**
 * Runs test files of a suite one after another in the same realm: see jest.together.config.js. Hooks that a file has
 * at its top level belong to its `describe`.
 */
import path from 'node:path';

declare const together: { folder: string; files: string[] };

describe.each(together.files)('%s', (file) => {
	jest.requireActual(path.join(together.folder, file));
});
