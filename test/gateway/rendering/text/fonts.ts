import { GlobalFonts } from '@napi-rs/canvas';
import { dirname, join } from 'node:path';

/**
 * A bare container has no fonts, and there text is drawn as nothing, without an error. Liberation Sans, which
 * pdfjs-dist carries, is used first, so text also looks the same on every machine; the machine's own fonts
 * supply the scripts that it lacks.
 */
export const textFont = '"Liberation Sans", sans-serif';

registerLiberationSans();

function registerLiberationSans(): void {
	let packageFile: string;
	try {
		packageFile = require.resolve('pdfjs-dist/package.json');
	} catch {
		// Not installed: the machine's own fonts have to do.
		return;
	}
	const path = join(dirname(packageFile), 'standard_fonts', 'LiberationSans-Regular.ttf');
	GlobalFonts.registerFromPath(path, 'Liberation Sans');
}
