import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { print, type Figure } from '../../report';
import { titledVideos } from '../../../support/samples';
import { packNext, packWith } from '../../../support/packed';
import { installPackage } from '../../../n8n/n8n';
import { until, within } from '../../../support/until';
import { jobsOf } from '../../../n8n/kills/charges';
import { House, soonNoticed } from '../house';
import { placeOf } from '../round';
import { collectWorkflow, videoWorkflow } from '../workflows';
import { ended, onceEach, printError } from './expectations';

const count = 4;

/** Workers that have not the same package as the main process: none at all, or another version. */
export async function measurePackagesFault(): Promise<Figure[]> {
	const gateway = titledVideos(1);
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
	await within(() => isThere(parked) && isThere(sent), 240);
	await again.end('SIGTERM');
	const title = 'A worker without the package';
	return [
		{ figure: `${title}: where the ID of the parked job is`, value: place },
		...onceEach(house, `${title}, then one collected, one executed again`, [parked, sent]),
	];
}

/** Parked by one version, resumed by the other, in both directions. */
async function acrossVersions(house: House): Promise<Figure[]> {
	const home = path.join(house.folder, 'newer');
	const newer = packNext(packNewer(path.join(house.folder, 'newer-package')));
	await installPackage(home, newer);
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

/** The package with one more field in Wait for Video, of which the main process knows nothing. */
function packNewer(folder: string): string {
	mkdirSync(folder);
	return packWith(folder, {
		'nodes/ModelGatewayWaitForVideo/ModelGatewayWaitForVideo.node.js': `
const { ModelGatewayWaitForVideo: Older } = exports;
exports.ModelGatewayWaitForVideo = class ModelGatewayWaitForVideo extends Older {
	constructor() {
		super();
		const newer = { displayName: 'Newer', name: 'newer', type: 'string', default: 'newer' };
		this.description.properties = [...this.description.properties, newer];
	}
};`,
	});
}
