import { readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.join(__dirname, '../../..');

/** The text of one of its files. */
export const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
