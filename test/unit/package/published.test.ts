import { PackageDirectoryLoader } from 'n8n-core';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import manifest from '../../../package.json';
import { maxSize, packInto } from '../../support/files/packed';
import { read, root } from '../../support/files/repository';

/** The file in the package behind an address that n8n gives to an icon. */
const fileOfIcon = (url?: string) => url?.replace(`icons/${manifest.name}/`, '');

describe('the published package', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'package-'));
	const { paths, size } = packInto(folder);
	afterAll(() => rmSync(folder, { recursive: true, force: true }));

	it('the published package has no runtime dependencies, so its license is the only one', () => {
		for (const kind of ['d', 'optionalD', 'bundleD', 'bundledD'])
			expect(manifest).not.toHaveProperty(`${kind}ependencies`);
		expect(read('LICENSE.md')).toMatch(new RegExp(`^# ${manifest.license} License\n\nCopyright `));
	});

	it('the published package contains what n8n loads, with icons and codex files, and no tests or examples', () => {
		for (const file of [...manifest.n8n.credentials, ...manifest.n8n.nodes])
			expect(paths).toContain(file);
		for (const file of manifest.n8n.nodes)
			expect(paths).toContain(file.replace('.node.js', '.node.json'));
		expect(paths.filter((file) => file.endsWith('.svg'))).toHaveLength(4);
		expect(paths.filter((file) => !file.startsWith('dist/')).sort()).toEqual([
			'LICENSE.md',
			'README.md',
			'index.js',
			'package.json',
		]);
		expect(
			paths.filter((file) => /^dist\/(?!nodes\/|credentials\/)|test|example/i.test(file)),
		).toEqual([]);
	});

	it('the published package is smaller than 215 kB', () => expect(size).toBeLessThan(maxSize));

	it('n8n loads the built package with its credential, its four nodes and their icons', async () => {
		const loader = new PackageDirectoryLoader(root);
		await loader.loadAll();
		expect(loader.types.credentials.map(({ name }) => name)).toEqual(['modelGatewayApi']);
		expect(loader.types.nodes.map(({ name }) => name).sort()).toEqual([
			'embeddingsModelGateway',
			'lmChatModelGateway',
			'modelGateway',
			'modelGatewayWaitForVideo',
		]);
		for (const { codex, iconUrl } of loader.types.nodes) {
			const [{ url = '' } = {}] = codex?.resources?.primaryDocumentation ?? [];
			// n8n appends a query to it, which a fragment would swallow.
			const [, guide = ''] = /\/blob\/main\/(docs\/[\w-]+\.md)$/.exec(url) ?? [];
			expect(existsSync(path.join(root, guide)) && guide).toBeTruthy();
			const icons = typeof iconUrl === 'string' ? [iconUrl] : [iconUrl?.light, iconUrl?.dark];
			expect(paths).toEqual(expect.arrayContaining(icons.map(fileOfIcon)));
		}
	});
});
