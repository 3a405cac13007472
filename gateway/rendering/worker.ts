import { parentPort } from 'node:worker_threads';

import { render } from './render';
import { endOfWork, type Answer } from './renderer';
import type { RenderSpec } from './spec';

if (!parentPort) throw new Error('worker.ts runs as a worker thread only.');
const port = parentPort;
const ending = new AbortController();
let work = Promise.resolve();

// Native codecs do not keep the event loop alive while they work. This listener does.
port.on('message', (message: RenderSpec | typeof endOfWork) => {
	if (message === endOfWork) {
		ending.abort();
		void work.finally(() => process.exit());
	} else {
		work = respond(message);
	}
});

async function respond(spec: RenderSpec): Promise<void> {
	try {
		const video = await render(spec, ending.signal);
		port.postMessage({ video } satisfies Answer, [video.buffer]);
	} catch (error) {
		port.postMessage({ error: (error as Error).message } satisfies Answer);
	}
}
