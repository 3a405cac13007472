import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const file = path.join(__dirname, '../../../.github/workflows/publish.yml');

it('the workflow publishes a tag with provenance, for which npm needs the identity of the workflow', () => {
	const workflow = parse(readFileSync(file, 'utf8')) as {
		on: { push: { tags: string[] } };
		permissions: Record<string, string>;
		jobs: { publish: { steps: Array<{ run?: string }> } };
	};
	expect(workflow.on.push.tags).toEqual(['v[0-9]+.[0-9]+.[0-9]+']);
	expect(workflow.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
	const commands = workflow.jobs.publish.steps.flatMap(({ run }) => run?.trim().split('\n') ?? []);
	expect(commands).toContain('npm run release:check');
	expect(commands.at(-1)).toBe('npm publish --provenance --access public');
});
