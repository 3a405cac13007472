import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { startGateway, type Gateway } from '.';
import { logEvents } from './log';

const usage = `Serves the whole Model Gateway service on loopback, so that you can try the nodes without a key.

  npm run gateway -- [options]

  --port <number>           port of the API (8788)
  --backup-port <number>    port of the backup URL (8790)
  --storage-port <number>   port of the storage host (8789)
  --job-seconds <number>    minimum time that a job takes (6)
  --answer-milliseconds <number>
                            delay before the response to a chat, embeddings or image call (0)
  --token-milliseconds <number>
                            delay before each piece of a streamed answer (20)
  --idempotency-header <name>
                            header for the idempotency keys of creates (none)
  --key <text>              API key to accept; repeat it for more (demo-key)
  --media <file>            file to serve as reference media; repeat it for more
  --help                    this text
`;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			port: { type: 'string', default: '8788' },
			'backup-port': { type: 'string', default: '8790' },
			'storage-port': { type: 'string', default: '8789' },
			'job-seconds': { type: 'string', default: '6' },
			'answer-milliseconds': { type: 'string', default: '0' },
			'token-milliseconds': { type: 'string', default: '20' },
			'idempotency-header': { type: 'string' },
			key: { type: 'string', multiple: true, default: ['demo-key'] },
			media: { type: 'string', multiple: true, default: [] },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return print(usage);

	const media = await Promise.all(values.media.map(readMedia));
	const gateway = await startGateway({
		port: readNumber('port', values.port),
		backupPort: readNumber('backup-port', values['backup-port']),
		storagePort: readNumber('storage-port', values['storage-port']),
		jobSeconds: readNumber('job-seconds', values['job-seconds']),
		answerMilliseconds: readNumber('answer-milliseconds', values['answer-milliseconds']),
		tokenMilliseconds: readNumber('token-milliseconds', values['token-milliseconds']),
		idempotencyHeader: values['idempotency-header'],
		keys: Object.fromEntries(values.key.map((key) => [key, {}])),
	});
	const links = media.map(({ name, bytes }) => gateway.addMedia(name, bytes, anyType));
	print(welcome(gateway, links));
	logEvents(gateway, print);

	const end = (): void => void gateway.close();
	process.on('SIGINT', end);
	process.on('SIGTERM', end);
}

function readNumber(name: string, text: string): number {
	if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`--${name} must be a number, not "${text}"`);
	return Number(text);
}

/** The service recognises media by their bytes only. */
const anyType = 'application/octet-stream';

async function readMedia(file: string): Promise<{ name: string; bytes: Buffer }> {
	return { name: basename(file), bytes: await readFile(file) };
}

const welcome = ({ url, backupUrl, storageUrl, apiKey }: Gateway, media: string[]): string => `
  The embedded Model Gateway is running.
    Base URL   ${url}
    Backup URL ${backupUrl}
    API Key    ${apiKey}
    Storage    ${storageUrl}
${media.map((link) => `    Media      ${link}\n`).join('')}
  In n8n: Credentials > Create Credential > Model Gateway API. Paste the values and save.
  n8n in Docker needs "--network host" to reach these addresses.
  Stop it with Ctrl-C.

`;

const print = (text: string): void => void process.stdout.write(text);

main().catch((error: Error) => {
	process.stderr.write(`${error.message}\n`);
	process.exitCode = 1;
});
