// Usage: node load.cjs <folder of n8n-nodes-base> <folder of this package>
// Loads both as n8n does when it starts, and prints how long that took, in milliseconds.
// Plain JavaScript, because what lets Node run TypeScript also slows down the loading of JavaScript.
require('reflect-metadata');
const start = performance.now();
const { LazyPackageDirectoryLoader } = require('n8n-core');

async function load(folder) {
	const started = performance.now();
	const loader = new LazyPackageDirectoryLoader(folder);
	await loader.loadAll();
	return { milliseconds: performance.now() - started, nodes: Object.keys(loader.known.nodes) };
}

async function measure([nodesBase, ours]) {
	await load(nodesBase);
	const without = performance.now() - start;
	const { milliseconds, nodes } = await load(ours);
	process.stdout.write(JSON.stringify({ without, ours: milliseconds, nodes }));
}

void measure(process.argv.slice(2));
