import { execFileSync } from 'node:child_process';
import path from 'node:path';
import manifest from '../../package.json';
import { withFolder } from '../folder';
import { maxSize, packInto, type Packed } from '../../test/support/files/packed';
import { atMost, type Figure } from '../report';
import { median, spread } from '../statistics';

const rounds = 11;
/** In milliseconds. */
const maxLoad = 50;

/** In milliseconds. */
interface Load {
	/** Loading n8n-core and n8n's own nodes, before this package. */
	without: number;
	ours: number;
	/** The nodes of this package that were loaded. */
	nodes: string[];
}

/** Measures what the package adds to n8n: its size on disk, and the time at every start. */
export async function measurePackage(): Promise<Figure[]> {
	return await withFolder('measure-package', async (folder) => {
		const packed = packInto(folder);
		// The first run is not measured: it also reads the files into the machine's cache.
		load(packed, folder);
		const loads = Array.from({ length: rounds }, () => load(packed, folder));
		const ours = loads.map((each) => each.ours);
		const without = loads.map((each) => each.without);
		const size = `${(packed.size / 1000).toFixed(1)} kB`;
		return [
			atMost('size of the tarball', packed.size / 1000, maxSize / 1000, {
				unit: 'kB',
				value: size,
			}),
			{ figure: 'size unpacked', value: `${(packed.unpackedSize / 1000).toFixed(1)} kB` },
			{
				figure: 'n8n without it: loading n8n-core and its own nodes',
				value: spread(without, 'ms'),
			},
			atMost('loading the nodes of this package, in addition', median(ours), maxLoad, {
				unit: 'ms',
				value: spread(ours, 'ms'),
			}),
		];
	});
}

/** Loads the package in a fresh process. */
function load(packed: Packed, home: string): Load {
	const nodesBase = path.dirname(require.resolve('n8n-nodes-base/package.json'));
	const printed = execFileSync(
		process.execPath,
		[path.join(__dirname, 'load.cjs'), nodesBase, packed.folder],
		{
			env: {
				...process.env,
				// n8n provides its n8n-workflow to the packages that it loads in the same way.
				NODE_PATH: path.join(nodesBase, '..'),
				N8N_USER_FOLDER: home,
				N8N_LOG_LEVEL: 'silent',
			},
		},
	);
	const loaded = JSON.parse(printed.toString()) as Load;
	if (loaded.nodes.length !== manifest.n8n.nodes.length)
		throw new Error(`Only these nodes were loaded: ${loaded.nodes.join(', ')}`);
	return loaded;
}
