import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { packInto } from '../../test/support/files/packed';

/** The same package with code appended to some files of `dist`. @param code by file @returns the tarball */
export function packWith(folder: string, code: Record<string, string>): string {
	const packed = packInto(folder);
	for (const [file, more] of Object.entries(code)) {
		appendFileSync(path.join(packed.folder, 'dist', file), more);
	}
	execFileSync('tar', ['-czf', packed.tarball, '-C', folder, path.basename(packed.folder)]);
	return packed.tarball;
}
