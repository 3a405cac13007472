import path from 'node:path';
import { inProcess, withProcess, type Script } from '../process';
import { atMost, type Figure } from '../report';
import { inTurns, median, spread } from '../statistics';
import type { Download, serve as download } from './engine';
import type { serve } from './service';

const rounds = 5;
/** In megabytes. */
const maxGrowth = 48;

const service: Script<typeof serve> = { file: path.join(__dirname, 'service.ts') };
const engine: Script<typeof download> = { file: path.join(__dirname, 'engine.ts') };

/** Measures one large download by our node and by n8n's HTTP Request node, each in a fresh process. */
export async function measureDownload(): Promise<Figure[]> {
	return await withProcess(service, [], async (served) => {
		const { ours, theirs } = await inTurns(
			{
				ours: async () => await inProcess(engine, ['waitForVideo', served]),
				theirs: async () => await inProcess(engine, ['httpRequest', served]),
			},
			{ rounds },
		);
		const growth = (one: Download) => one.growth / 1e6;
		const speed = ({ seconds }: Download) => served.large.bytes / 1e6 / seconds;
		const ratio = (measured: (one: Download) => number) =>
			(median(ours.map(measured)) / median(theirs.map(measured))).toFixed(2);
		return [
			atMost('Wait for Video: growth of memory (RSS)', median(ours.map(growth)), maxGrowth, {
				unit: 'MB',
				value: spread(ours.map(growth), 'MB'),
			}),
			{ figure: 'HTTP Request: growth of memory (RSS)', value: spread(theirs.map(growth), 'MB') },
			{ figure: 'Wait for Video: speed', value: spread(ours.map(speed), 'MB/s') },
			{ figure: 'HTTP Request: speed', value: spread(theirs.map(speed), 'MB/s') },
			{ figure: 'Wait for Video / HTTP Request: memory', value: ratio(growth) },
			{ figure: 'Wait for Video / HTTP Request: time', value: ratio(({ seconds }) => seconds) },
		];
	});
}
