import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { print, type Figure } from '../../../bench/report';
import { sampleVideo, withTitle } from '../../../engine/support/samples';
import { packInto } from '../../../support/packed';
import { installPackage } from '../../support/n8n';
import { until } from '../../support/until';
import { House, soonNoticed } from '../house';
import { videoWorkflow } from '../workflows';
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

async function withoutPackage(house: House): Promise<Figure[]> {
	print('  A worker without the package');
	const bare = await house.startWorker({ home: path.join(house.folder, 'bare') });
	const workflow = await house.publish(videoWorkflow('bare', house.places));
	await house.call('bare', { name: 'bare' });
	const [failed] = await ended(house, workflow);
	printError(failed);
	await bare.end('SIGTERM');
	const whole = await house.startWorker();
	await house.owner.request('POST', `/executions/${failed.id}/retry`, { loadWorkflow: false });
	await ended(house, workflow);
	await whole.end('SIGTERM');
	return onceEach(house, 'A worker without the package, then Retry with one that has it', ['bare']);
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
		figures.push(...onceEach(house, `Parked by an ${from} version, resumed by a ${to} one`, names));
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
