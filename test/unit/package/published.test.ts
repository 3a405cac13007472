import { PackageDirectoryLoader } from 'n8n-core';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import manifest from '../../../package.json';
import { maxSize, packInto } from '../../support/files/packed';

const root = path.join(__dirname, '../../..');

async function packageClasses() {
	const entry = (await import(path.join(root, manifest.main))) as { default: object };
	return entry.default as Record<string, new () => { description?: { name: string } }>;
}

describe('the published package', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'package-'));
	const { paths, size } = packInto(folder);
	afterAll(() => rmSync(folder, { recursive: true, force: true }));

	it('the published package has no runtime dependencies', () => {
		expect(manifest).not.toHaveProperty('dependencies');
		expect(manifest).not.toHaveProperty('optionalDependencies');
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
		expect(paths.filter((file) => /test|example/i.test(file))).toEqual([]);
	});

	it('the published package is smaller than 180 kB', () => expect(size).toBeLessThan(maxSize));

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
			expect(codex?.resources?.primaryDocumentation).toHaveLength(1);
			expect(JSON.stringify(iconUrl)).toContain('.svg');
		}
	});

	it('the published package exports the classes of its nodes and credential', async () => {
		const classes = await packageClasses();
		expect(Object.keys(classes).sort()).toEqual([
			'EmbeddingsModelGateway',
			'LmChatModelGateway',
			'ModelGateway',
			'ModelGatewayApi',
			'ModelGatewayWaitForVideo',
		]);
		expect(new classes.LmChatModelGateway().description?.name).toBe('lmChatModelGateway');
		expect(new classes.ModelGateway().description?.name).toBe('modelGateway');
		expect(new classes.ModelGatewayWaitForVideo().description?.name).toBe(
			'modelGatewayWaitForVideo',
		);
	});
});
