import path from 'node:path';
import type { N8n } from '../../n8n/n8n';

type Place = Pick<N8n, 'url' | 'folder'>;

/** The n8n of a test file: jest's setup starts one for each worker. */
export const shared = {
	/** Set only in the process of the setup. */
	running: [] as N8n[],

	publish(all: N8n[]): void {
		this.running = all;
		const places = all.map(({ url, folder }): Place => ({ url, folder }));
		process.env.E2E_PLACES = JSON.stringify(places);
	},

	get url(): string {
		return ownPlace().url;
	},

	/** The folder of all that n8n keeps. */
	get folder(): string {
		return ownPlace().folder;
	},

	/** The folder into which nodes may write files by n8n's default. */
	get filesFolder(): string {
		return path.join(this.folder, '.n8n-files');
	},
};

function ownPlace(): Place {
	const { E2E_PLACES = '[]', JEST_WORKER_ID = '1' } = process.env;
	return (JSON.parse(E2E_PLACES) as Place[])[Number(JEST_WORKER_ID) - 1];
}
