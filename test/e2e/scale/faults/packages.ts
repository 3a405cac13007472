import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { print, type Figure } from '../../../bench/report';
import { sampleVideo, withTitle } from '../../../engine/support/samples';
import { packInto } from '../../../support/packed';
import { installPackage } from '../../support/n8n';
import { until } from '../../support/until';
import { jobsOf } from '../fates';
import { House, soonNoticed } from '../house';
import { placeOf } from '../round';
import { collectWorkflow, videoWorkflow } from '../workflows';
import { ended, onceEach, printError } from './expectations';

const count = 4;

/** Workers that have not the same package as the main process: none at all, or another version. */
export async function packagesFault(): Promise<Figure[]> {
	const video = await sampleVideo();
	const gateway = {
		jobSeconds: 1,
		render: async ({ caption }: { caption: string }) => withTitle(video, caption),
	};
	return await House.with({ gateway, workers: 0, env: soonNoticed }, async (house) => [
		...(await withoutPackage(house)),
		...(await acrossVersions(house)),
	]);
}

/** n8n gives up what such a worker takes: a new execution, and a parked one, whose video is collected by its ID. */
async function withoutPackage(house: House): Promise<Figure[]> {
	const workflow = await house.publish(videoWorkflow('bare', house.places));
	await house.publish(collectWorkflow('collect', house.places));
	const [parked, sent] = ['parked', 'new'];
	const whole = await house.startWorker();
	await house.call('bare', { name: parked });
	await until(async () => (await house.statuses(workflow)).waiting === 1);
	await whole.end('SIGTERM');
	const bare = await house.startWorker({ home: path.join(house.folder, 'bare') });
	await house.call('bare', { name: sent });
	const failed = await ended(house, workflow);
	await bare.end('SIGTERM');
	print('  A worker without the package took a parked execution, and a new one');
	for (const execution of failed) printError(execution);

	const again = await house.startWorker();
	const [{ id }] = jobsOf(house.gateway, parked);
	const place = await placeOf(house, id, failed);
	await house.call('collect', { name: parked, id });
	await house.call('bare', { name: sent });
	const isThere = (name: string) => house.sink.deliveries.some((each) => each.name === name);
	await until(() => isThere(parked) && isThere(sent), 240).catch(() => undefined);
	await again.end('SIGTERM');
	const title = 'A worker without the package';
	return [
		{ figure: `${title}: the ID of the parked job is in the`, value: place },
		...onceEach(house, `${title}, then one collected, one executed anew`, [parked, sent]),
	];
}

/** Parked by one version, resumed by the other, in both directions. */
async function acrossVersions(house: House): Promise<Figure[]> {
	const home = path.join(house.folder, 'newer');
	await installPackage(home, packNewer(path.join(house.folder, 'newer-package')));
	const homes = { older: house.folder, newer: home };
	const figures: Figure[] = [];
	for (const [from, to] of [
		['older', 'newer'],
		['newer', 'older'],
	] as const) {
		const path = `${from}-${to}`;
		const names = Array.from({ length: count }, (_, index) => `${path} ${index}`);
		const workflow = await house.publish(videoWorkflow(path, house.places));
		const first = await house.startWorker({ home: homes[from] });
		for (const name of names) await house.call(path, { name });
		await until(async () => (await house.statuses(workflow)).waiting === count);
		await first.end('SIGTERM');
		const second = await house.startWorker({ home: homes[to] });
		await ended(house, workflow);
		await second.end('SIGTERM');
		figures.push(
			...onceEach(house, `Parked by the ${from} version, resumed by the ${to} one`, names),
		);
	}
	return figures;
}

/** The package under a later version, with one more field in Wait for Video, of which the main process knows nothing. */
function packNewer(folder: string): string {
	mkdirSync(folder);
	const packed = packInto(folder);
	const manifest = path.join(packed.folder, 'package.json');
	const content = JSON.parse(readFileSync(manifest, 'utf8')) as object;
	writeFileSync(manifest, JSON.stringify({ ...content, version: '99.0.0' }));
	appendFileSync(
		path.join(
			packed.folder,
			'dist/nodes/ModelGatewayWaitForVideo/ModelGatewayWaitForVideo.node.js',
		),
		`
const { ModelGatewayWaitForVideo: Older } = exports;
exports.ModelGatewayWaitForVideo = class ModelGatewayWaitForVideo extends Older {
	constructor() {
		super();
		const newer = { displayName: 'Newer', name: 'newer', type: 'string', default: 'newer' };
		this.description.properties = [...this.description.properties, newer];
	}
};`,
	);
	execFileSync('tar', ['-czf', packed.tarball, '-C', folder, path.basename(packed.folder)]);
	return packed.tarball;
}
