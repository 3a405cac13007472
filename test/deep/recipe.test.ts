import { execFileSync } from 'node:child_process';
import {
	cpSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { read, root } from '../support/files/repository';

/** Follows "Add an operation" and "Provoke a fault" of CONTRIBUTING.md to the letter, in a copy of the repository. */
describe('the recipes of CONTRIBUTING.md', () => {
	const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'recipe-'));
	afterAll(() => rmSync(folder, { recursive: true, force: true }));
	const file = (name: string) => path.join(folder, name);

	const guide = read('CONTRIBUTING.md');
	const codeBehind = (text: string) => {
		const at = guide.indexOf(text);
		const [, code] = /```ts\n(.*?)```/s.exec(guide.slice(at)) ?? [];
		if (at < 0 || code === undefined)
			throw new Error(`CONTRIBUTING.md has no code behind: ${text}`);
		return code;
	};
	const write = (name: string, text: string) => {
		mkdirSync(path.dirname(file(name)), { recursive: true });
		writeFileSync(file(name), text);
	};
	const insert = (name: string, behind: string, line: string) => {
		const text = readFileSync(file(name), 'utf8');
		if (!text.includes(behind)) throw new Error(`${name} has no line: ${behind}`);
		writeFileSync(file(name), text.replace(behind, `${behind}\n${line}`));
	};
	const run = (tool: string, ...args: string[]) =>
		execFileSync(process.execPath, [path.join(root, 'node_modules', tool), ...args], {
			cwd: folder,
			env: { ...process.env, UPDATE_DOCS: '1', JEST_WORKER_ID: undefined },
			stdio: ['ignore', 'pipe', 'pipe'],
		});

	it('lead to an operation that compiles, and passes the suites that go through all operations', () => {
		const left = ['.git', 'dist', 'node_modules'];
		const filter = (source: string) => !left.includes(path.basename(source));
		cpSync(root, folder, { recursive: true, filter });
		symlinkSync(path.join(root, 'node_modules'), file('node_modules'));

		const operation = 'nodes/ModelGateway/resources/model/get.ts';
		write(operation, codeBehind(`**1. \`${operation}\`**`));
		const list = 'nodes/ModelGateway/resources/index.ts';
		insert(
			list,
			"import { modelGetAll } from './model/getAll';",
			"import { modelGet } from './model/get';",
		);
		insert(list, '\tmodelGetAll,', '\tmodelGet,');
		const good = 'test/support/workflows/everyNode.ts';
		insert(good, "\t'model getAll': {},", codeBehind(`**3. \`${good}\`**`));
		const tests = [
			'test/engine/responses/modelGet.test.ts',
			'test/engine/orders/lostResponse.test.ts',
		];
		write(tests[0], codeBehind('**4. Its test**'));
		write(tests[1], codeBehind('### Provoke a fault'));

		run('typescript/bin/tsc', '--noEmit');
		const operations = ['agents/tools', 'fields/', 'uxGuidelines'];
		run('jest/bin/jest.js', ...tests, ...operations);
	}, 600_000);
});
