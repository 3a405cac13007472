import path from 'node:path';
import { withProcess } from '../helperProcess';
import type { Figure } from '../report';
import { median, spread } from '../statistics';
import type { Download, NodeName } from './engine';
import type { Service } from './service';

const rounds = 5;
/** In megabytes. */
const mostGrowth = 48;

/** Measures one large download by our node and by n8n's HTTP Request node, each in a fresh process. */
export async function benchDownload(): Promise<Figure[]> {
	return await withProcess({ script: script('service') }, async (service: Service) => {
		const downloads: Record<NodeName, Download[]> = { waitForVideo: [], httpRequest: [] };
		const order: NodeName[] = ['waitForVideo', 'httpRequest'];
		for (let round = 0; round < rounds; round++) {
			for (const node of order) downloads[node].push(await measure(node, service));
			// The disk may still be busy with the last file: that is not to slow down the same node each time.
			order.reverse();
		}
		return figures(downloads, service.large.bytes);
	});
}

const script = (name: string) => path.join(__dirname, `${name}.ts`);

async function measure(node: NodeName, service: Service): Promise<Download> {
	const engine = { script: script('engine'), args: [node, JSON.stringify(service)] };
	return await withProcess(engine, async (download: Download) => download);
}

function figures(downloads: Record<NodeName, Download[]>, bytes: number): Figure[] {
	const { waitForVideo: ours, httpRequest: theirs } = downloads;
	const growth = (download: Download) => download.growth / 1e6;
	const speed = ({ seconds }: Download) => bytes / 1e6 / seconds;
	const ratio = (measured: (download: Download) => number) =>
		(median(ours.map(measured)) / median(theirs.map(measured))).toFixed(2);
	return [
		{
			figure: 'Wait for Video: growth of memory (RSS)',
			value: spread(ours.map(growth), 'MB'),
			goal: `at most ${mostGrowth} MB`,
			met: median(ours.map(growth)) <= mostGrowth,
		},
		{ figure: 'HTTP Request:   growth of memory (RSS)', value: spread(theirs.map(growth), 'MB') },
		{ figure: 'Wait for Video: speed', value: spread(ours.map(speed), 'MB/s') },
		{ figure: 'HTTP Request:   speed', value: spread(theirs.map(speed), 'MB/s') },
		{ figure: 'Wait for Video / HTTP Request: memory', value: ratio(growth) },
		{ figure: 'Wait for Video / HTTP Request: time', value: ratio(({ seconds }) => seconds) },
	];
}
