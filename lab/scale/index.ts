import pc from 'picocolors';
import { print, type Figure } from '../report';
import { measureDiskFault } from './faults/disk';
import { measurePackagesFault } from './faults/packages';
import { measureRedisFault } from './faults/redis';
import { measureHold } from './hold';
import { measureOneKill, measureProcessKills } from './kills';
import { measureParkedLatency } from './latency';
import { measureLoad } from './load';
import { writeIntoPage } from './page';
import { measureRestarts } from './restarts';
import { measureStorage } from './storage';

interface Settings {
	/** A factor for what `load` and `latency` start, and for how long the videos of `hold` take. */
	share: number;
	/** One worker killed, with few executions. */
	small: boolean;
	/** A pattern of the titles of the restarts to measure; empty for all. */
	restart: string;
	/** Whether to write the figures into lab/capacity.md. */
	write: boolean;
}

type Part =
	'kills' | 'restarts' | 'load' | 'latency' | 'hold' | 'packages' | 'redis' | 'disk' | 'storage';

/** Measures the capacity of a complete n8n in queue mode, and the resources that it uses. */
export async function measureScale(
	{ share, small, restart, write }: Settings,
	chosen: Part[],
): Promise<Figure[]> {
	if (small) return await measureOneKill();
	const part = (whole: number) => Math.ceil(whole * share);
	const parts: Record<Part, () => Promise<Figure[]>> = {
		kills: measureProcessKills,
		restarts: async () => await measureRestarts(restart),
		load: async () => await measureLoad({ chats: part(1000), parked: part(500), held: part(100) }),
		latency: async () => await measureParkedLatency([10, 100, 500].map(part)),
		hold: async () => await measureHold({ executions: 30, videoSeconds: part(180) }),
		packages: measurePackagesFault,
		redis: measureRedisFault,
		disk: measureDiskFault,
		storage: async () => await measureStorage(part(400)),
	};
	const figures: Figure[] = [];
	for (const name of chosen) {
		print(`\n${pc.bold(name)}`);
		const own = await parts[name]();
		if (write) writeIntoPage(name, own);
		figures.push(...own);
	}
	return figures;
}
