import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';

const root = path.join(__dirname, '../../..');

interface Workflow {
	on: { push: { tags: string[] } };
	permissions: Record<string, string>;
	jobs: {
		publish: { steps: Array<{ name?: string; run?: string; env?: Record<string, string> }> };
	};
}

const workflow = parse(
	readFileSync(path.join(root, '.github/workflows/publish.yml'), 'utf8'),
) as Workflow;
const step = workflow.jobs.publish.steps.find(({ name }) => name === 'Publish');

/** The commands of npm that the step runs. */
function commandsWith(token: string): string[] {
	const folder = mkdtempSync(path.join(tmpdir(), 'publish-'));
	const npm = path.join(folder, 'npm');
	const log = path.join(folder, 'log');
	writeFileSync(
		npm,
		`#!/bin/sh\necho "$*" >> "${log}"\n[ "$2" != get ] || echo https://npm.example/path/\n`,
	);
	chmodSync(npm, 0o755);
	const env = { PATH: `${folder}:${process.env.PATH}`, NPM_TOKEN: token };
	// As GitHub runs it.
	execFileSync('bash', ['--norc', '-e', '-c', step?.run ?? ''], { env, stdio: 'ignore' });
	const commands = readFileSync(log, 'utf8').trim().split('\n');
	rmSync(folder, { recursive: true });
	return commands;
}

describe('.github/workflows/publish.yml', () => {
	const publish = 'publish --provenance --access public';

	it('publishes a tag with provenance, for which npm needs the identity of the workflow', () => {
		expect(workflow.on.push.tags).toEqual(['v[0-9]+.[0-9]+.[0-9]+']);
		expect(workflow.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
		expect(step?.env).toEqual({ NPM_TOKEN: '${{ secrets.NPM_TOKEN }}' });
	});

	it('publishes without a token, as a trusted publisher', () => {
		expect(commandsWith('')).toEqual([publish]);
	});

	it('writes a token for the registry where there is one, as for the first version', () => {
		expect(commandsWith('secret')).toEqual([
			'config get registry',
			'config set //npm.example/path/:_authToken secret',
			publish,
		]);
	});
});
