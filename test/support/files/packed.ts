import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { root } from './repository';

/** The maximum size in bytes of the tarball, which users download. */
export const maxSize = 215_000;

/** The package as npm publishes it. */
export interface Packed {
	/** The file that users install. */
	tarball: string;
	/** The folder with the unpacked files of the tarball. */
	folder: string;
	/** Paths in the folder. */
	paths: string[];
	/** Bytes of the tarball. */
	size: number;
	/** Bytes of all files. */
	unpackedSize: number;
}

/** Packs the package, with `dist` as it was last built, and unpacks it in a folder that exists. */
export function packInto(folder: string): Packed {
	const [{ filename, files, size, unpackedSize }] = JSON.parse(
		execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
			cwd: root,
			stdio: ['ignore', 'pipe', 'ignore'],
		}).toString(),
	) as Array<{
		filename: string;
		files: Array<{ path: string }>;
		size: number;
		unpackedSize: number;
	}>;
	// The tarball's files are in a folder "package".
	const tarball = path.join(folder, filename);
	execFileSync('tar', ['-xzf', tarball], { cwd: folder });
	const paths = files.map((file) => file.path);
	return { tarball, folder: path.join(folder, 'package'), paths, size, unpackedSize };
}

/** The same package with the next patch version, packed from the folder that `packInto` unpacked beside the tarball. */
export function packNext(tarball: string): string {
	const cwd = path.join(path.dirname(tarball), 'package');
	const version = ['version', 'patch', '--no-git-tag-version', '--ignore-scripts'];
	execFileSync('npm', version, { cwd, stdio: 'ignore' });
	const [{ filename }] = JSON.parse(
		execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', '..'], {
			cwd,
			stdio: ['ignore', 'pipe', 'ignore'],
		}).toString(),
	) as Array<{ filename: string }>;
	return path.join(path.dirname(tarball), filename);
}
