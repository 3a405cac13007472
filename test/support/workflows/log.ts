import { LoggerProxy } from 'n8n-workflow';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A line of n8n's log, as n8n writes it into a file. */
interface LogLine {
	level: string;
	message: string;
	metadata: Record<string, unknown>;
}

let marks = 0;

/** All lines of n8n's log so far. n8n writes them one after another, so a line of our own shows that all are there. */
export async function logLines(): Promise<LogLine[]> {
	const file = path.join(process.env.N8N_USER_FOLDER ?? '', 'n8n.log');
	const mark = `All lines before mark ${++marks} are written`;
	LoggerProxy.info(mark);
	for (;;) {
		const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
		if (lines.at(-1)?.includes(mark)) return lines.map((line) => JSON.parse(line) as LogLine);
		await pause(20);
	}
}

/** Fields that n8n adds to the metadata of each line. */
const added = ['file', 'function', 'timestamp'];

/** The lines of this package about an execution, with their own metadata only. */
export async function eventsOf({ executionId }: { executionId: string }): Promise<LogLine[]> {
	const lines = await logLines();
	return lines
		.filter(({ metadata }) => metadata.executionId === executionId && 'event' in metadata)
		.map(({ metadata, ...line }) => {
			const own = Object.entries(metadata).filter(([name]) => !added.includes(name));
			return { ...line, metadata: Object.fromEntries(own) };
		});
}
