import { spawnSync } from 'node:child_process';
import {
	appendFileSync,
	cpSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import manifest from '../../package.json';
import { compilerOptions } from '../../tsconfig.json';
import { compilerOptions as buildOptions } from '../../tsconfig.build.json';
import { root } from '../support/files/repository';

const lintConfig =
	'node_modules/@n8n/node-cli/dist/template/templates/shared/default/eslint.config.mjs';

/** The files of a folder with their texts. How JSON is indented does not count. */
const filesIn = (folder: string) =>
	Object.fromEntries(
		readdirSync(folder, { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map(({ parentPath, name }) => {
				const file = path.join(parentPath, name);
				const text = readFileSync(file, 'latin1');
				return [path.relative(folder, file), name.endsWith('.json') ? JSON.parse(text) : text];
			}),
	);

// Both commands take the folder that they run in, with all that is below it. This folder has what is published, n8n's
// own configuration of ESLint, which the strict mode demands, and a tsconfig.json that includes no more.
describe("n8n's command n8n-node", () => {
	const folder = path.join(realpathSync(tmpdir()), `cli-${process.pid}`);
	mkdirSync(folder);
	for (const name of ['nodes', 'credentials', 'index.js', 'README.md', 'LICENSE.md'])
		cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
	symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
	cpSync(path.join(root, lintConfig), path.join(folder, 'eslint.config.mjs'));
	const write = (name: string, value: object) =>
		writeFileSync(path.join(folder, name), JSON.stringify(value));
	write('package.json', { ...manifest, n8n: { ...manifest.n8n, strict: true } });
	write('tsconfig.json', {
		compilerOptions: { ...compilerOptions, ...buildOptions, outDir: 'dist' },
		include: ['nodes/**/*.ts', 'nodes/**/*.json', 'credentials/**/*.ts'],
	});
	afterAll(() => rmSync(folder, { recursive: true, force: true }));

	function run(command: 'build' | 'lint') {
		const { status, stdout, stderr } = spawnSync('npx', ['n8n-node', command], {
			cwd: folder,
			encoding: 'utf8',
			// With "test", which jest sets, n8n's rules take every file for one of their own tests.
			env: { ...process.env, NODE_ENV: 'production' },
		});
		return { status, printed: `${stdout}${stderr}` };
	}

	it('n8n-node build emits the same files as npm run build', () => {
		const { status, printed } = run('build');
		expect(printed).toContain('Build successful');
		expect(status).toBe(0);
		expect(filesIn(path.join(folder, 'dist'))).toEqual(filesIn(path.join(root, 'dist')));
	});

	it('n8n-node lint passes nodes, credentials and package.json in strict mode', () => {
		const { status, printed } = run('lint');
		expect(printed).not.toMatch(/error|warning|Strict mode violation/);
		expect(status).toBe(0);
	});

	it('n8n-node lint rejects what n8n forbids, and a changed configuration in strict mode', () => {
		write('package.json', { ...manifest, dependencies: { axios: '1.0.0' } });
		appendFileSync(path.join(folder, 'nodes/shared/service/json.ts'), 'console.log(1);\n');
		const forbidden = run('lint');
		expect(forbidden.printed).toContain('no-runtime-dependencies');
		expect(forbidden.printed).toContain('no-console');
		expect(forbidden.status).not.toBe(0);

		write('package.json', { ...manifest, n8n: { ...manifest.n8n, strict: true } });
		appendFileSync(path.join(folder, 'eslint.config.mjs'), '// Changed.\n');
		const changed = run('lint');
		expect(changed.printed).toContain('Strict mode violation');
		expect(changed.status).not.toBe(0);
	});
});
