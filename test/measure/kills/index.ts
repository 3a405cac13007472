import type { Figure } from '../report';
import { measureOrderKills } from './orders';
import { measureWaitKills, type WaitsOptions } from './waits';

type Part = 'waits' | 'orders' | 'stops' | 'queue';

/** Kills, stops and restarts a complete n8n during workflows that order, await and save videos. */
export async function measureKills(options: WaitsOptions, parts: Part[]): Promise<Figure[]> {
	const figures: Figure[] = [];
	for (const part of parts) {
		figures.push(
			...(part === 'waits' ? await measureWaitKills(options) : await measureOrderKills(part)),
		);
	}
	return figures;
}
