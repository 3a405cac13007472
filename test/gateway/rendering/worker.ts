import { parentPort } from 'node:worker_threads';

import type { Answer } from './pool';
import { render } from './render';
import type { RenderSpec } from './spec';

if (!parentPort) throw new Error('worker.ts runs as a worker thread only.');
const port = parentPort;

// Native codecs do not keep the event loop alive while they work; this listener does.
port.on('message', async (spec: RenderSpec) => {
	try {
		const result = await render(spec);
		port.postMessage({ result } satisfies Answer<Uint8Array>, [result.buffer]);
	} catch (error) {
		port.postMessage({ error: (error as Error).message } satisfies Answer<Uint8Array>);
	}
});
