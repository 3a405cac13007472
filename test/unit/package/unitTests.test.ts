import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const root = path.join(__dirname, '../../..');
const tests = readdirSync(path.join(root, 'test/unit'), { recursive: true, encoding: 'utf8' })
	.filter((name) => name.endsWith('.test.ts'))
	.map((name) => name.split(path.sep));

/** Each folder of the unit tests, and the sources that it mirrors. */
const mirrored: Record<string, string> = {
	gateway: 'nodes/shared/gateway',
	n8n: 'nodes/shared/n8n',
	nodes: 'nodes',
	embeddedGateway: 'gateway',
};

/** The answers are read by many files, and what is in them stays when those change. */
const ofNoFile = ['gateway/answers.test.ts'];

/** `<file>.test.ts`, or `<file>.<subject>.test.ts`. */
const fileOf = ([top, ...below]: string[]) =>
	path.join(mirrored[top] ?? top, ...below).replace(/(\.\w+)?\.test\.ts$/, '.ts');

describe('the unit tests', () => {
	it('each unit test is named after the file that it tests, unless it is in the folder package or tests the answers', () => {
		const strays = tests.filter(
			(test) => test[0] !== 'package' && !existsSync(path.join(root, fileOf(test))),
		);
		expect(strays.map((test) => test.join('/'))).toEqual(ofNoFile);
	});

	it('every folder of unit tests is known here', () => {
		const folders = new Set(tests.map(([top]) => top));
		expect([...folders].sort()).toEqual([...Object.keys(mirrored), 'package'].sort());
	});
});
