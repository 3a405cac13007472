import { homedir } from 'node:os';
import path from 'node:path';

/** The folder outside the checkout for what takes long to install or to make. */
export const cacheRoot = path.join(
	process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'),
	'n8n-nodes-model-gateway',
);
