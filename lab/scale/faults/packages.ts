import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { print, type Figure } from '../../report';
import { titledVideos } from '../../../test/support/data/samples';
import { packNext } from '../../../test/support/files/packed';
import { packWith } from '../../n8n/packWith';
import { installPackage } from '../../../test/n8n/n8n';
import { until, within } from '../../../test/support/time/until';
import { jobsOf } from '../../../test/n8n/charges';
import { Deployment } from '../deployment';
import { placeOf } from '../aftermath';
import { patience } from '../arrange';
import { videoWorkflow } from '../../../test/n8n/videoWorkflows';
import { collectWorkflow } from '../workflows';
import { ended, onceEach, printError } from './expectations';

const count = 4;

/** Workers whose package differs from that of the main process: none at all, or another version. */
export async function measurePackagesFault(): Promise<Figure[]> {
	const gateway = titledVideos(1);
	return await Deployment.with({ gateway, workers: 0 }, async (deployment) => [
		...(await withoutPackage(deployment)),
		...(await acrossVersions(deployment)),
	]);
}

/** Without the package, executions fail: a new one, and a parked one, whose video is then collected by ID. */
async function withoutPackage(deployment: Deployment): Promise<Figure[]> {
	const workflow = await deployment.publish(videoWorkflow('bare', deployment.environment));
	await deployment.publish(collectWorkflow('collect', deployment.environment));
	const [parked, sent] = ['parked', 'new'];
	const whole = await deployment.startWorker();
	await deployment.call('bare', { name: parked });
	await until(async () => (await deployment.statuses(workflow)).waiting === 1);
	await whole.end('SIGTERM');
	const bare = await deployment.startWorker({ home: path.join(deployment.folder, 'bare') });
	await deployment.call('bare', { name: sent });
	const failed = await ended(deployment, workflow);
	await bare.end('SIGTERM');
	print('  A worker without the package took a parked execution, and a new one');
	for (const execution of failed) printError(execution);

	const again = await deployment.startWorker();
	const [{ id }] = jobsOf(deployment.gateway, parked);
	const place = await placeOf(deployment, id, failed);
	await deployment.call('collect', { name: parked, id });
	await deployment.call('bare', { name: sent });
	const isThere = (name: string) => deployment.sink.deliveries.some((each) => each.name === name);
	await within(() => isThere(parked) && isThere(sent), patience);
	await again.end('SIGTERM');
	const title = 'A worker without the package';
	return [
		{ figure: `${title}: where the job ID of the parked wait is`, value: place },
		...onceEach(deployment, `${title}, then one video collected, one execution started again`, [
			parked,
			sent,
		]),
	];
}

/** Executions parked by one version and resumed by the other, in both directions. */
async function acrossVersions(deployment: Deployment): Promise<Figure[]> {
	const home = path.join(deployment.folder, 'newer');
	const newer = packNext(packNewer(path.join(deployment.folder, 'newer-package')));
	await installPackage(home, newer);
	const homes = { older: deployment.folder, newer: home };
	const figures: Figure[] = [];
	for (const [from, to] of [
		['older', 'newer'],
		['newer', 'older'],
	] as const) {
		const path = `${from}-${to}`;
		const names = Array.from({ length: count }, (_, index) => `${path} ${index}`);
		const workflow = await deployment.publish(videoWorkflow(path, deployment.environment));
		const first = await deployment.startWorker({ home: homes[from] });
		for (const name of names) await deployment.call(path, { name });
		await until(async () => (await deployment.statuses(workflow)).waiting === count);
		await first.end('SIGTERM');
		const second = await deployment.startWorker({ home: homes[to] });
		await ended(deployment, workflow);
		await second.end('SIGTERM');
		figures.push(
			...onceEach(deployment, `Parked by the ${from} version, resumed by the ${to} one`, names),
		);
	}
	return figures;
}

/** The package with one more field in Wait for Video, which the main process does not know. */
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
