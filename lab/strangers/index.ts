import path from 'node:path';
import { inProcess, type Script } from '../process';
import type { Figure } from '../report';
import type { serve } from './client';

export interface Settings {
	seconds: number;
	/** Strangers that are asked at the same time. */
	parallel: number;
	seed: string;
}

/** In megabytes. With more, V8 keeps what is no longer in use for as long as there is room. */
const heapLimit = 600;

/** Measures what strangers can do to the process that asks them. It fails when the heap is not enough. */
export async function measureStrangers(settings: Settings): Promise<Figure[]> {
	const script: Script<typeof serve> = { file: path.join(__dirname, 'client.ts'), heapLimit };
	return (await inProcess(script, [settings])).figures;
}
