import { testedVersion } from '../../test/n8n/installation';
import { measured as rows, record } from '../../test/n8n/versionTable';
import type { Figure } from '../report';
import { measureOrderKills } from './orders/index';
import { measureWaitKills, type WaitsOptions } from './waits/index';

type Part = 'waits' | 'orders' | 'stops' | 'queue';

interface KillsOptions extends WaitsOptions {
	/** Whether to write into docs/versions.md what this version of n8n has passed. */
	write: boolean;
}

/** Kills, stops and restarts a complete n8n during workflows that order, await and save videos. */
export async function measureKills(options: KillsOptions, parts: Part[]): Promise<Figure[]> {
	const figures: Figure[] = [];
	for (const part of parts) {
		const measured =
			part === 'waits' ? await measureWaitKills(options) : await measureOrderKills(part);
		figures.push(...measured);
		const hasPassed = measured.every(({ met }) => met !== false);
		if (options.write && rows.includes(part)) record(testedVersion, [[part, hasPassed]]);
	}
	return figures;
}
