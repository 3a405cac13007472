import { GlobalFonts } from '@napi-rs/canvas';
import { dirname, join } from 'node:path';

/**
 * A bare container has no fonts, and there text is drawn as nothing, without an error. Liberation Sans, which
 * pdfjs-dist carries, is used first, so text also looks the same on every machine; the machine's own fonts
 * supply the scripts that it lacks.
 */
export const textFont = '"Liberation Sans", sans-serif';

const fonts = join(dirname(require.resolve('pdfjs-dist/package.json')), 'standard_fonts');
GlobalFonts.registerFromPath(join(fonts, 'LiberationSans-Regular.ttf'), 'Liberation Sans');
