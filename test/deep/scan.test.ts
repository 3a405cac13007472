import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packInto } from '../support/files/packed';
import { root } from '../support/files/repository';

describe("n8n's scanner for community packages", () => {
	// One of n8n's rules skips files whose path contains the name of certain services, such as "S3". In a folder with a
	// random name it would sometimes find nothing.
	const folder = path.join(realpathSync(tmpdir()), `scan-${process.pid}`);
	mkdirSync(folder);
	const packed = packInto(folder);
	afterAll(() => rmSync(folder, { recursive: true, force: true }));

	function scan(scanned: string, kind: 'source' | 'tarball') {
		const script = path.join(__dirname, 'scan.mjs');
		const env = {
			...process.env,
			// With "test", which jest sets, n8n's rules take every file for one of their own tests.
			NODE_ENV: 'production',
			// The scanner leaves a temporary folder behind.
			TMPDIR: folder,
		};
		const said = execFileSync(process.execPath, [script, scanned, kind], { env }).toString();
		return JSON.parse(said) as { passed: boolean; message?: string; details?: string };
	}

	// The scanner also passes, with a message, if it finds no files.
	it('passes the source of this package', () =>
		expect(scan(root, 'source')).toEqual({ passed: true }));

	it('passes the tarball of this package', () =>
		expect(scan(packed.folder, 'tarball')).toEqual({ passed: true }));
});
