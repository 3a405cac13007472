/**
 * The floors of the house, from the ground up: a file imports from its own floor's folder or from floors below,
 * types included. Folders on one floor do not know each other.
 */
const floors = [
	[
		'shared/service/jsonBounds',
		'shared/service/markup',
		'shared/service/oneLine',
		'shared/service/words',
	],
	['shared/service/json'],
	['shared/service/addresses', 'shared/service/sharePages'],
	['shared/service/links', 'shared/service/files'],
	['shared/service/protocol'],
	['shared/service/prices', 'shared/service/reader'],
	['shared/service/errors'],
	['shared/service/client'],
	[
		'shared/service/jobs',
		'shared/service/chat',
		'shared/service/embeddings',
		'shared/service/models',
	],
	['shared/service/images'],
	['shared/n8n/display'],
	['shared/n8n/agent', 'shared/n8n/execution', 'shared/n8n/log'],
	['shared/n8n/errors'],
	['shared/n8n/client'],
	['shared/n8n/parameters'],
	['shared/n8n/files'],
	['shared/n8n/orders'],
	['shared/n8n/items'],
	['shared/n8n/operations'],
	['ModelGateway', 'ModelGatewayWaitForVideo', 'LmChatModelGateway', 'EmbeddingsModelGateway'],
];

const inFolder = (folder) => `^nodes/${folder}(/|\\.ts$)`;

/** It has numbers alone, which every floor needs. */
const bounds = inFolder('shared/service/protocol/bounds');

/** For each folder, what it may not import: the floors above it, and its neighbours. */
const pointDown = floors.flatMap((floor, level) =>
	floor.map((folder) => {
		const above = floors.slice(level + 1).flat();
		const neighbours = floor.filter((other) => other !== folder);
		return {
			name: `imports point down from ${folder}`,
			severity: 'error',
			from: { path: inFolder(folder) },
			to: { path: [...above, ...neighbours].map(inFolder), pathNot: bounds },
		};
	}),
);

/** What several suites need, and what each part of it may import beside itself and the package. */
const shared = {
	harness: ['support'],
	support: ['harness'],
	n8n: ['harness', 'support'],
	runner: [],
};
const suites = [
	...['unit', 'engine', 'promises', 'deep', 'e2e', 'world', 'demo', 'release', 'types'],
];

/** Suites import what they share, and never each other. */
const suitesApart = [
	...Object.entries(shared),
	...suites.map((suite) => [suite, Object.keys(shared)]),
].map(([folder, allowed]) => ({
	name: `test/${folder} imports nothing of another suite`,
	comment: `Of test, only ${allowed.join(', ')}. What two suites need belongs to test/support.`,
	severity: 'error',
	from: { path: `^test/${folder}/` },
	to: { path: '^test/', pathNot: `^test/(${[folder, ...allowed].join('|')}|fixtures)/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		...pointDown.filter(({ to }) => to.path.length > 0),
		...suitesApart,
		{
			name: 'every folder of test is shared or a suite',
			severity: 'error',
			from: {
				path: '^test/[^/]+/',
				pathNot: `^test/(${[...Object.keys(shared), ...suites].join('|')})/`,
			},
			to: {},
		},
		{
			name: 'every file has a floor',
			severity: 'error',
			from: {},
			to: { path: '^nodes/', pathNot: floors.flat().map(inFolder) },
		},
		{
			name: 'no cycles',
			severity: 'error',
			from: { path: '^(nodes|credentials)/' },
			to: { circular: true },
		},
		{
			name: 'shared/service knows nothing of n8n',
			comment: 'Its HTTP and its clock are handed in.',
			severity: 'error',
			from: { path: '^nodes/shared/service/' },
			to: { path: ['(^|/)node_modules/(n8n|@n8n)', '^nodes/(?!shared/service/)'] },
		},
		{
			name: 'the package knows nothing of its tests',
			severity: 'error',
			from: { path: '^(nodes|credentials)/' },
			to: { path: '^(gateway|lab|test)/' },
		},
		{
			name: 'the embedded gateway knows only the service',
			severity: 'error',
			from: { path: '^gateway/' },
			to: { path: '^(credentials|lab|test|nodes/(?!shared/service/))' },
		},
		{
			name: 'no test needs the laboratory',
			severity: 'error',
			from: { path: '^test/' },
			to: { path: '^lab/' },
		},
		{
			name: 'a promise knows nothing of the inside of the package',
			comment: 'It has to hold whatever the package is made of.',
			severity: 'error',
			from: { path: '^test/promises/' },
			to: { path: '^(nodes|credentials|lab)/' },
		},
		{
			name: 'the laboratory uses what the suites share',
			severity: 'error',
			from: { path: '^lab/' },
			to: {
				path: '^test/',
				pathNot: `^test/(${Object.keys(shared).join('|')})/`,
			},
		},
		{
			name: 'the package declares what it imports',
			comment: 'Whoever installs it has no devDependencies, and other packages only by chance.',
			severity: 'error',
			from: { path: '^(nodes|credentials)/' },
			to: {
				dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev', 'unknown'],
				dependencyTypesNot: ['npm', 'npm-peer'],
				// An optional peer, which n8n alone has: aiNodeSdk.ts loads it when it is used.
				pathNot: '^@n8n/ai-node-sdk$',
			},
		},
	],
	options: {
		doNotFollow: { path: 'node_modules' },
		// Types are imports too: who reads a file has to know what they mean.
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
	},
};
