import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { root } from '../files/repository';

interface Cruised {
	modules: Array<{ source: string; dependencies: Array<{ resolved: string }> }>;
}

/** The room of a file: its folder below `nodes/shared/…`, else the folder at the top or of the node. */
function roomOf(file: string): string | undefined {
	// It has numbers alone, which every room needs.
	if (file === 'nodes/shared/service/protocol/bounds.ts') return undefined;
	const [, shared] = /^nodes\/(shared\/\w+\/\w+)/.exec(file) ?? [];
	const [, node] = /^nodes\/(\w+)/.exec(file) ?? [];
	const [, top] = /^(credentials|gateway)\//.exec(file) ?? [];
	return shared ?? node ?? top;
}

/** Which room imports which, by the imports of all files. */
function importsBetweenRooms(): Map<string, Set<string>> {
	const tool = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
	const folders = ['nodes', 'credentials', 'gateway'];
	const output = execFileSync(process.execPath, [tool, ...folders, '--output-type', 'json'], {
		cwd: root,
		encoding: 'utf8',
		maxBuffer: 2 ** 26,
	});
	const rooms = new Map<string, Set<string>>();
	for (const { source, dependencies } of (JSON.parse(output) as Cruised).modules) {
		const from = roomOf(source);
		if (from === undefined) continue;
		const known = rooms.get(from) ?? new Set();
		rooms.set(from, known);
		for (const to of dependencies.map(({ resolved }) => roomOf(resolved)))
			if (to !== undefined && to !== from) known.add(to);
	}
	return rooms;
}

/** Leaves out each import that a longer way implies. `npm run lint:imports` refuses circles. */
function direct(rooms: Map<string, Set<string>>): Array<[string, string]> {
	const reaches = (from: string, to: string): boolean =>
		[...(rooms.get(from) ?? [])].some((next) => next === to || reaches(next, to));
	return [...rooms].flatMap(([from, all]) =>
		[...all]
			.filter((to) => ![...all].some((other) => other !== to && reaches(other, to)))
			.map((to): [string, string] => [from, to]),
	);
}

/** The rooms and their imports as GitHub draws them. */
export function drawingOfHouse(): string {
	const rooms = importsBetweenRooms();
	const group = (name: string) => {
		const inside = [...rooms.keys()].filter((room) => path.dirname(room) === name).sort();
		const entries = inside.map((room) => `    ${room}["${path.basename(room)}"]`);
		return [`  subgraph ${name}`, ...entries, '  end'];
	};
	const arrows = direct(rooms).map(([from, to]) => `  ${from} --> ${to}`);
	const groups = [...group('shared/n8n'), ...group('shared/service')];
	return ['```mermaid', 'flowchart TD', ...groups, ...arrows.sort(), '```'].join('\n');
}
