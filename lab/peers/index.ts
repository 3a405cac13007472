import { loadavg } from 'node:os';
import path from 'node:path';
import pc from 'picocolors';
import { Instance } from '../n8n/instance';
import { withFolder } from '../folder';
import { packInto } from '../../test/support/files/packed';
import { UsageError } from '../measurement';
import { withProcess, type Script } from '../process';
import { print, type Figure } from '../report';
import { chats } from './chats';
import { writeDocument } from './document';
import { embeddings } from './embeddings';
import { files } from './files';
import type { serve } from './service';
import { subNodes } from './subNodes';
import { tableOf } from './table';
import { videos } from './videos';
import type { Section, Work } from './work';

const works = { chats, embeddings, videos, files, subNodes } satisfies Record<string, Work>;
type WorkName = keyof typeof works;

interface Settings {
	rounds: number;
	/** A small run, which only checks that everything works. */
	small: boolean;
	/** Whether to write lab/benchmarks.md. */
	write: boolean;
}

const service: Script<typeof serve> = { file: path.join(__dirname, 'service.ts') };

/** Measures the same work in a complete n8n: with this package, and with the nodes that users would use instead. */
export async function measurePeers(
	{ rounds: wanted, small: isSmall, write }: Settings,
	only: WorkName[],
): Promise<Figure[]> {
	if (write && (isSmall || only.length < Object.keys(works).length)) {
		throw new UsageError('--write needs a full run of all parts');
	}
	const [load] = loadavg();
	const rounds = isSmall ? 1 : wanted;
	const sections = await measure(only, { rounds, isSmall });
	if (write) await writeDocument(sections, { rounds, load });
	return isSmall ? [] : sections.flatMap((section) => section.goals);
}

async function measure(
	only: WorkName[],
	options: { rounds: number; isSmall: boolean },
): Promise<Section[]> {
	return await withFolder('measure-peers', async (folder) => {
		const { tarball } = packInto(folder);
		const env = { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' };
		return await withProcess(service, [], async (service) => {
			const open = async (name: string) => {
				const instance = await Instance.open(path.join(folder, name), { tarball, env });
				return { instance, service };
			};
			const setup = await open('n8n');
			try {
				const sections: Section[] = [];
				for (const name of only) {
					print(`\n${pc.bold(name)}`);
					const openOther = async () => await open('other-n8n');
					const section = await works[name]({ ...setup, openOther, ...options });
					for (const { title, rows } of section.tables) print(`\n${title}\n\n${tableOf(rows)}`);
					for (const finding of section.findings ?? []) print(`\n${finding}`);
					sections.push(section);
				}
				return sections;
			} finally {
				await setup.instance.end();
			}
		});
	});
}
