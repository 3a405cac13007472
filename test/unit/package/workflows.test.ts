import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const root = path.join(__dirname, '../../..');
const folder = path.join(root, '.github/workflows');
const workflows = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'));

it('each action of the workflows is pinned to a commit, and says which version that is', () => {
	const uses = workflows.flatMap((text) => text.match(/\buses: .*/g) ?? []);
	expect(uses.length).toBeGreaterThan(0);
	// Whoever controls an action can move its tags, but not its commits.
	for (const use of uses) expect(use).toMatch(/^uses: [\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
});

it('the Node.js of .nvmrc is the newest of those that CI tests', () => {
	const [ci] = workflows.filter((text) => text.startsWith('name: CI\n'));
	const { jobs } = parse(ci) as {
		jobs: { test: { strategy: { matrix: { node: Array<string | number> } } } };
	};
	const developed = readFileSync(path.join(root, '.nvmrc'), 'utf8').trim();
	expect(developed).toBe(String(jobs.test.strategy.matrix.node.at(-1)));
});
