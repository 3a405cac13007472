/**
 * Node.js alone, in the version that runs n8n: shows how much memory any program in it needs for a large file.
 * Downloads each URL that it is sent into the file named by its argument, and responds when the file is there. Ends
 * with its parent.
 */
import { createWriteStream } from 'node:fs';
import { get } from 'node:http';
import { pipeline } from 'node:stream/promises';

const [file] = process.argv.slice(2);

process.once('disconnect', () => process.exit());
process.on('message', (url) => {
	get(url, async (response) => {
		await pipeline(response, createWriteStream(file));
		process.send('done');
	});
});
