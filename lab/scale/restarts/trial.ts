import type { IWorkflowBase } from 'n8n-workflow';
import pc from 'picocolors';
import { print, type Figure } from '../../report';
import { titledVideos } from '../../../test/support/data/samples';
import { isOpen } from '../../../test/n8n/owner';
import { until } from '../../../test/support/time/until';
import { fromNowOn, resolveFates } from '../aftermath';
import { Deployment, type StoredExecution } from '../deployment';
import type { Fate } from '../fates';
import { callAll } from '../load';
import { videoWorkflow } from '../../../test/n8n/videoWorkflows';
import { collectWorkflow } from '../workflows';

export type Report = (line: string) => void;

/** Executions that wait for a video each, and what happens to n8n meanwhile. */
export interface Trial {
	title: string;
	/** Executions, each of one video. */
	count: number;
	/** Prepares n8n before the first order. */
	prepare?(deployment: Deployment): Promise<void>;
	/** The fault once all are parked. Afterwards everything runs again. */
	disrupt(deployment: Deployment, stage: Stage): Promise<void>;
	/** Whether every video must arrive by itself. Otherwise none may be lost. */
	isByItself: boolean;
}

export interface Stage {
	/** The executions of this trial. */
	executions: () => Promise<StoredExecution[]>;
	report: Report;
}

/**
 * Seconds after which nothing resumes by itself any more: n8n looks for due executions once a minute, 70 s ahead, and
 * keeps to its list even if an execution shows as crashed.
 */
const lastResume = 90;

/** Prints lines with their time and the title, because trials run side by side. */
export function reporter(title: string): Report {
	const started = performance.now();
	return (line) => {
		const seconds = ((performance.now() - started) / 1000).toFixed(0);
		print(`  ${seconds.padStart(4)} s  ${pc.dim(title)}: ${line}`);
	};
}

/** Videos whose names contain the seconds that they take: `… 20 s …`; by default 20. */
export const timedVideos = () =>
	titledVideos(({ order }) => Number(/ (\d+) s /.exec(order.prompt)?.[1] ?? 20));

export interface Bench {
	video: IWorkflowBase;
}

/** Publishes what all trials of a deployment share. */
export async function benchOf(deployment: Deployment): Promise<Bench> {
	await deployment.publish(collectWorkflow('collect', deployment.environment));
	return { video: await deployment.publish(videoWorkflow('video', deployment.environment)) };
}

/** Whether every execution has ended for good, at this many seconds after the disruption. */
const isOverAfter = (begun: number) => (executions: StoredExecution[]) => {
	const isLate = performance.now() - begun > lastResume * 1000;
	return executions.every((one) => one.status === 'success' || (isLate && !isOpen(one)));
};

/** Orders the videos, waits until all are parked, disrupts n8n, and checks the outcome of each. */
export async function runTrial(
	deployment: Deployment,
	{ video }: Bench,
	{ title, count, prepare, disrupt, isByItself }: Trial,
): Promise<Figure> {
	await prepare?.(deployment);
	const report = reporter(title);
	const executions = await fromNowOn(deployment, [video]);
	const names = Array.from({ length: count }, (_, index) => `${title} ${index}`);
	await callAll(deployment, 'video', names);
	await until(
		async () => (await executions()).filter(({ status }) => status === 'waiting').length === count,
	);
	report(`${count} executions are parked`);
	await disrupt(deployment, { executions, report });
	return await figureOfTrial(deployment, { title, names, executions, isByItself, report });
}

interface Ordered {
	title: string;
	names: string[];
	executions: () => Promise<StoredExecution[]>;
	isByItself: boolean;
	report: Report;
}

/** Waits until no video arrives by itself any more, fetches the others, and sums up. */
export async function figureOfTrial(
	deployment: Deployment,
	{ title, names, executions, isByItself, report }: Ordered,
): Promise<Figure> {
	report(`then: ${summaryOf(await executions())}`);
	const fates = await resolveFates(deployment, {
		all: names.map((name) => ({ name })),
		own: executions,
		report,
		isOver: isOverAfter(performance.now()),
	});
	report('all have ended');
	const figure = fateFigure(title, fates, isByItself);
	report(figure.value);
	return figure;
}

/** The number of executions by status. */
export function summaryOf(executions: Array<{ status: string }>): string {
	const statuses = [...new Set(executions.map(({ status }) => status))].sort();
	const count = (status: string) => executions.filter((one) => one.status === status).length;
	return statuses.map((status) => `${count(status)} ${status}`).join(', ') || 'no executions';
}

/** One line about the outcome of all executions of a trial. */
function fateFigure(title: string, fates: Fate[], isByItself: boolean): Figure {
	const count = (is: (fate: Fate) => boolean) => fates.filter(is).length;
	const byItself = count(({ way }) => way === 'arrived by itself');
	const retried = count(({ way }) => way === 'arrived after one Retry');
	const collected = count(({ way }) => way === 'collected by its ID');
	const places = [...new Set(fates.map(({ foundIn }) => foundIn).filter(Boolean))];
	const broken = {
		lost: count(({ way }) => way === 'lost'),
		'charged twice': count(({ charges }) => charges > 1),
		'delivered twice': count(({ deliveries }) => deliveries > 1),
	};
	const byHand = [
		...(retried > 0 ? [`${retried} after one Retry`] : []),
		...(collected > 0 ? [`${collected} collected by ID (${places.join(', ')})`] : []),
	];
	const bad = Object.entries(broken).map(([name, number]) => `${name} ${number}`);
	const isWhole = Object.values(broken).every((number) => number === 0);
	const isAllByItself = !isByItself || byItself === fates.length;
	return {
		figure: title,
		value: `${[`${byItself} of ${fates.length} by themselves`, ...byHand].join(', ')}; ${bad.join(', ')}`,
		goal: isByItself ? 'all by themselves, 0, 0, 0' : '0, 0, 0',
		met: isWhole && isAllByItself,
	};
}
