import { GlobalFonts } from '@napi-rs/canvas';
import { dirname, join } from 'node:path';

/**
 * A bare container has no fonts, and text is then drawn as nothing, without an error. So Liberation Sans, which
 * pdfjs-dist includes, is used first. Text then also looks the same on every machine. The machine's own fonts supply
 * other scripts.
 */
export const textFont = '"Liberation Sans", sans-serif';

const fonts = join(dirname(require.resolve('pdfjs-dist/package.json')), 'standard_fonts');
GlobalFonts.registerFromPath(join(fonts, 'LiberationSans-Regular.ttf'), 'Liberation Sans');
