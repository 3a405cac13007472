import { open, rm, stat } from 'node:fs/promises';
import { waitForVideo, type Node } from '../../test/support/workflows/workflows';
import { fromTexts, PublishedWay, type Measured } from './measure';
import { growthOfNodeAlone } from './nodeAlone';
import { asFile, credentialsFor, httpRequest, result } from './nodes';
import { medianOf, requireSuccess, type Row } from './rounds';
import { atMost, print, type Figure } from '../report';
import { spread } from '../statistics';
import type { FinishedVideo } from './service';
import { textToVideo } from './videos';
import type { Section, Setup, Work } from './work';

/** The growth of n8n's memory in the download of one large video. */
export const files: Work = async ({ rounds, isSmall, ...setup }) => {
	const { service, instance } = setup;
	const { small, large, huge } = service.files;
	const { ours } = await credentialsFor(setup, 'files');
	const alibaba = await instance.owner.createCredentialOf('alibabaCloudApi', {
		apiKey: 'sk-any',
		region: 'ap-southeast-1',
		url: service.alibaba.files,
	});
	const publish = async (name: string, node: Node) => {
		const workflow = fromTexts([node, result]);
		return await PublishedWay.publish(setup, { name, gateway: 'files', workflow });
	};
	const text = '={{ $json.text }}';
	const wait = await publish('Wait for Video', waitForVideo({ jobId: text }, ours));
	const http = await publish(
		'HTTP Request node',
		httpRequest('Download', { url: text, ...asFile }),
	);
	const theirs = await publish('Alibaba Cloud node', textToVideo(alibaba));

	const download = async (way: PublishedWay, video: FinishedVideo) => {
		const measured = await way.run([way === http ? video.url : video.id]);
		requireSuccess(way.way, measured);
		await takeLargeFile(setup, measured, video.bytes);
		return measured;
	};
	const first: number[] = [];
	const rowsOf = async (
		ways: PublishedWay[],
		video: FinishedVideo,
		times: number,
	): Promise<Row[]> => {
		const rows: Row[] = ways.map(({ way }) => ({ way: way.name, runs: [] }));
		for (let round = 0; round < times; round++) {
			for (const [index, way] of ways.entries()) {
				if (!isSmall) {
					// The next run must not reuse the memory of this one.
					await instance.end();
					await instance.start();
					first.push((await download(http, large)).growth / 1e6);
				}
				await download(way, small);
				const measured = await download(way, video);
				rows[index].runs.push(measured);
				print(
					`  ${way.way.name}: ${(measured.growth / 1e6).toFixed(0)} MB in ${measured.seconds} s`,
				);
			}
		}
		return rows;
	};

	if (isSmall) return section(await rowsOf([wait, http, theirs], small, 1));
	const ofLarge = await rowsOf([wait, http, theirs], large, rounds);
	const ofHuge = await rowsOf([wait, http], huge, rounds);
	const alone: number[] = [];
	for (let round = 0; round < rounds; round++) {
		const urls = [large, small, huge].map(({ url }) => url);
		alone.push((await growthOfNodeAlone(urls, instance.folder)) / 1e6);
	}
	return section(ofLarge, ofHuge, { first, alone });
};

/** Growth in megabytes, for comparison: of a fresh n8n with its first large file, and of Node.js alone with 4 GB. */
interface Floors {
	first: number[];
	alone: number[];
}

function section(ofLarge: Row[], ofHuge?: Row[], floors?: Floors): Section {
	return {
		title: 'One large video: the memory of n8n',
		about: [
			'The video is already finished. Each node stores its file as n8n’s binary data, which is in the file system (`N8N_DEFAULT_BINARY_DATA_MODE=filesystem`). Wait for Video and the Alibaba Cloud node are given an ID and request the link. The HTTP Request node is given the link. The server makes the bytes as it sends them: the start of an mp4, and a media box of the right length. Each stored file is checked for its start and its length, and then deleted.',
			'Before each run, n8n is restarted and warmed up. First, the HTTP Request node downloads 400 MB, because n8n grows once with its first large file, whichever node downloads it (the figure is below). Then the measured node downloads 20 MB, so that loading its code does not count. The growth is the peak of the resident memory of n8n’s process (`VmHWM`), minus its memory just before.',
			'Wait for Video passes the file to n8n’s storage piece by piece, as it arrives. The HTTP Request node does the same, but it neither waits for a video nor checks that the file is complete. Wait for Video pauses for 3 s: an ID alone does not show the kind of its job, so the node polls both endpoints, 3 s apart. The Alibaba Cloud node loads the whole file into memory (`arraybuffer`) and copies it. It is not measured with 4 GB, where it would need ten times as much memory.',
		],
		tables: [
			{ title: ofHuge ? '400 MB' : '20 MB', rows: ofLarge, bars: 'growth' },
			...(ofHuge ? [{ title: '4 GB', rows: ofHuge, bars: 'growth' as const }] : []),
		],
		goals: ofHuge ? [growthGoal(ofLarge[0], '400 MB'), growthGoal(ofHuge[0], '4 GB')] : [],
		findings: floors && [
			`The first 400 MB after a start make n8n grow by ${spread(floors.first, 'MB')}.`,
			`Node.js alone grows by ${spread(floors.alone, 'MB')} with the 4 GB, in a process that only writes the same three files from the connection to the disk. The growth depends on when Node.js frees its buffers: it reads each piece from the connection into a buffer of 64 kB.`,
		],
	};
}

/** In megabytes. */
const maxGrowth = 10;

function growthGoal(row: Row, size: string): Figure {
	const megabytes = medianOf(row, ({ growth }) => growth) / 1e6;
	return atMost(`${size} video: growth of memory, ours`, megabytes, maxGrowth, { unit: 'MB' });
}

/** Takes the one file of a run out of n8n's storage. @throws Error when it is not a whole mp4 */
async function takeLargeFile({ instance }: Setup, { items, charges }: Measured, bytes: number) {
	if (charges > 0) throw new Error('A download was charged');
	const file = instance.fileOf(items[0].binary?.data.id ?? '');
	const { size } = await stat(file);
	const handle = await open(file);
	const { buffer } = await handle.read(Buffer.alloc(8), 0, 8, 0);
	await handle.close();
	await rm(file);
	if (size !== bytes || buffer.toString('latin1', 4) !== 'ftyp') {
		throw new Error(`A file of ${bytes} bytes was stored as ${size} bytes`);
	}
}
