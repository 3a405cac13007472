import type { IDataObject } from 'n8n-workflow';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Charge } from '../../../gateway/accounts';
import type { WorkflowJson } from '../../harness/workflow';

export const examplesFolder = path.resolve(__dirname, '../../../examples');

export function readExample(file: string): WorkflowJson {
	return JSON.parse(readFileSync(path.join(examplesFolder, file), 'utf8')) as WorkflowJson;
}

/** The orders of another run, as the notes of an example say; undefined for an example that orders no video or image. */
export function secondRunOf({ nodes }: WorkflowJson): 'nothing' | 'everything' | undefined {
	const notes = nodes.filter(({ type }) => type.endsWith('.stickyNote'));
	const said = notes.flatMap(({ parameters }) => {
		const text = String(parameters?.content);
		return [
			...text.matchAll(/\borders? (nothing again|everything again|another (?:video|image))/g),
		];
	});
	if (said.length === 0) return undefined;
	if (said.length > 1) throw new Error('Two notes say what another run orders');
	return said[0][1] === 'nothing again' ? 'nothing' : 'everything';
}

/** The cost of a first try of an example, as the list of examples says it: `1 image, 2 videos`. */
export function listedCost(file: string): string {
	const rows = readFileSync(path.join(examplesFolder, 'README.md'), 'utf8').split('\n');
	const row = rows.find((line) => line.startsWith(`| [${file}]`));
	if (row === undefined) throw new Error(`${file} is not in the list of examples`);
	return row.split('|').at(-2)?.trim() ?? '';
}

/** These charges in the words of the list of examples. */
export function costOf(charges: readonly Charge[]): string {
	const counts = new Map<string, number>();
	for (const { kind } of charges) {
		const name = names[kind];
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	const counted = [...counts].map(([name, count]) => `${count} ${name}${count === 1 ? '' : 's'}`);
	return (
		counted.sort((one, other) => one.slice(2).localeCompare(other.slice(2))).join(', ') || 'nothing'
	);
}

const names: Record<Charge['kind'], string> = {
	task: 'video',
	video: 'video',
	image: 'image',
	chat: 'chat',
	message: 'chat',
	embedding: 'embedding',
};

/** The folder in the paths of the examples. */
export const folderOfFiles = '/home/node/.n8n-files';

/**
 * The example with another folder in each node that reads or writes files, as a user changes it there. The notes
 * keep what they say.
 */
export function withFolder({ nodes, ...rest }: WorkflowJson, folder: string): WorkflowJson {
	const changed = (node: WorkflowJson['nodes'][number]): typeof node =>
		node.type.endsWith('.stickyNote')
			? node
			: (JSON.parse(JSON.stringify(node).replaceAll(folderOfFiles, folder)) as typeof node);
	return { ...rest, nodes: nodes.map(changed) };
}

/** The values in the node "Your Settings" of an example. */
export function settingsOf(example: WorkflowJson): IDataObject {
	const node = settingsNodeOf(example);
	if ('jsonOutput' in node) return JSON.parse(node.jsonOutput) as IDataObject;
	const { assignments } = node.assignments;
	return Object.fromEntries(assignments.map(({ name, value }) => [name, value]));
}

/**
 * The example as a user sets it up before the first run: with other values in "Your Settings", and no other change.
 * Throws when it has no such setting.
 */
export function withSettings(example: WorkflowJson, changes: IDataObject): WorkflowJson {
	const before = settingsOf(example);
	const unknown = Object.keys(changes).filter((name) => !(name in before));
	if (unknown.length > 0) throw new Error(`${example.name} has no setting ${unknown.join(', ')}`);

	const changed = structuredClone(example);
	const settings = { ...before, ...changes };
	const node = settingsNodeOf(changed);
	if ('jsonOutput' in node) node.jsonOutput = JSON.stringify(settings);
	else for (const field of node.assignments.assignments) field.value = settings[field.name];
	return changed;
}

/** Parameters of an Edit Fields node, which takes its fields as JSON or one by one. */
type SettingsNode =
	| { jsonOutput: string }
	| { assignments: { assignments: Array<{ name: string; value: IDataObject[string] }> } };

function settingsNodeOf({ name, nodes }: WorkflowJson): SettingsNode {
	const node = nodes.find((candidate) => candidate.name === 'Your Settings');
	if (!node?.parameters) throw new Error(`${name} has no node "Your Settings"`);
	// n8n types the parameters of a node loosely; the test of the examples checks this form.
	return node.parameters as unknown as SettingsNode;
}
