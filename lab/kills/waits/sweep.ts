import type { IWorkflowBase } from 'n8n-workflow';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { FaultHandle, Gateway, Job, RecordedRequest } from '../../../gateway';
import { picture, titledVideos } from '../../../test/support/data/samples';
import { sha256 } from '../../../test/support/data/sha256';
import { Instance } from '../../n8n/instance';
import { callWebhook, isOpen, type CredentialReference } from '../../../test/n8n/owner';
import { within } from '../../../test/support/time/until';
import {
	byId,
	core,
	modelGateway,
	startedBy,
	waitForVideo,
	withCredential,
} from '../../../test/support/workflows/workflows';
import { chargesOf, jobsOf } from '../../../test/n8n/charges';

/**
 * How a workflow is started, and what its wait does:
 * - `active`: by a webhook that responds at once, with default settings.
 * - `manual`: by hand, with default settings.
 * - `keepsRunning`: by a webhook, with Keep Running.
 */
export type Kind = 'active' | 'manual' | 'keepsRunning';

export interface SweepOptions {
	/** How n8n is stopped: killed, or as a container is stopped, which is killed after 10 s. */
	signal: 'SIGKILL' | 'SIGTERM';
	/** One workflow each. They start one after the other, so that each is in another phase when n8n stops. */
	kinds: Kind[];
	secondsApart: number;
	/** From the order of a video until it is finished. */
	videoSeconds: number;
	/** Seconds from the start of the last workflow until n8n is stopped. */
	killAfter: number;
	/** Indexes of workflows whose polls hang until n8n is stopped, so that it is stopped during their pass. */
	inPass?: number[];
	/** How long n8n stays down. */
	downSeconds: number;
	report(line: string): void;
}

export type Outcome = 'before' | 'byItself' | 'afterRetry' | 'lost';

/** The outcome of one workflow of three videos. */
export interface Fate {
	name: string;
	/** Its age in seconds when n8n was stopped. */
	age: number;
	/** The status that n8n showed just before it was stopped. */
	phase: string;
	outcome: Outcome;
	/** How often each of its videos was charged. */
	charges: number[];
	/** Whether every video was saved, byte for byte. */
	isWhole: boolean;
	/** Whether an order was under way, about which n8n cannot know. */
	isInCreate: boolean;
}

const videosEach = 3;
/** Longer than a pass without downloads takes on a busy machine. */
const passSeconds = 5;
/** Seconds that an execution may need after a restart: n8n's start, its check once a minute, and a pass. */
const patience = 260;
/** Seconds after its start in which n8n may show an execution as crashed although it resumes. */
const startSeconds = 90;

/** Milliseconds within which the response to an order has arrived and n8n has stored it. */
const inCreate = 1_000;

/**
 * Starts workflows of the quick start (a trigger, Create, Wait for Video, a file; default settings), stops n8n in the
 * middle, starts it again, presses Retry once for each execution that does not resume by itself, and checks the
 * outcome of each.
 */
export async function sweep(options: SweepOptions): Promise<Fate[]> {
	return await Instance.withGateway(
		titledVideos(options.videoSeconds),
		async (instance, gateway) => await new Waits(instance, gateway).sweep(options),
	);
}

interface Started {
	name: string;
	workflow: IWorkflowBase;
	at: number;
	age: number;
	phase: string;
}

class Waits {
	private readonly started: Started[] = [];
	private endedAt = 0;
	private credential?: CredentialReference;

	constructor(
		private readonly instance: Instance,
		private readonly gateway: Gateway,
	) {}

	async sweep(options: SweepOptions): Promise<Fate[]> {
		const { signal, killAfter, inPass, downSeconds, report } = options;
		await this.start(options);
		await setTimeout(killAfter * 1000);
		const hanging = inPass && (await this.hangIn(inPass));
		await this.recordPhases(Date.now());
		await this.instance.end(signal);
		report(`n8n was stopped by ${signal}, and stays down for ${downSeconds} s`);
		hanging?.remove();
		await setTimeout(downSeconds * 1000);
		await this.instance.start();
		return await this.fates(options);
	}

	private get owner() {
		return this.instance.owner;
	}

	private get files(): string {
		return path.join(this.instance.folder, '.n8n-files');
	}

	private async start({ kinds, secondsApart, report }: SweepOptions): Promise<void> {
		this.credential = await this.owner.createCredential(this.gateway);
		const all: Array<{ name: string; kind: Kind; workflow: IWorkflowBase }> = [];
		for (const [index, kind] of kinds.entries()) {
			const name = `w${index}`;
			mkdirSync(path.join(this.files, name));
			const json = this.workflow(name, kind);
			const workflow =
				kind === 'manual'
					? await this.owner.createWorkflow(json)
					: await this.owner.createPublished(json);
			all.push({ name, kind, workflow });
		}
		for (const { name, kind, workflow } of all) {
			if (this.started.length > 0) await setTimeout(secondsApart * 1000);
			this.started.push({ name, workflow, at: Date.now(), age: 0, phase: '' });
			if (kind === 'manual') await this.owner.start(workflow);
			else await callWebhook(this.instance.url, `${name}-start`);
		}
		report(
			`${kinds.length} workflows of ${videosEach} videos were started, ${secondsApart} s apart`,
		);
	}

	private workflow(name: string, kind: Kind) {
		const credential = this.credential as CredentialReference;
		const url = this.gateway.addMedia('dot.png', picture('teal', 1, 1), 'image/png');
		const media = [{ type: 'reference_image', url }];
		const trigger =
			kind === 'manual'
				? core('Start', 'manualTrigger')
				: core('Start', 'webhook', { path: `${name}-start` }, 2);
		const videos = Array.from({ length: videosEach }, (_, index) => ({
			video: `${name} v${index}`,
		}));
		const list = core('List', 'set', { mode: 'raw', jsonOutput: JSON.stringify({ videos }) }, 3.4);
		const split = core('Each', 'splitOut', { fieldToSplitOut: 'videos' });
		const create = modelGateway({
			resource: 'referenceVideo',
			operation: 'create',
			model: byId('beta-2.7-r2v'),
			prompt: '={{ $json.video }}',
			mediaInput: 'json',
			mediaJson: JSON.stringify(media),
		});
		const wait = waitForVideo(kind === 'keepsRunning' ? { whileWaiting: 'hold' } : {});
		const fileName = `=${path.join(this.files, name)}/{{ $("Each").item.json.video }}.mp4`;
		const save = core('Save', 'readWriteFile', { operation: 'write', fileName });
		const row = startedBy(trigger, list, split, create, wait, save);
		return withCredential({ ...row, name }, credential);
	}

	/** Makes polls of these workflows hang. Resolves during their pass, when the passes of all others should be over. */
	private async hangIn(indexes: number[]): Promise<FaultHandle> {
		const isTheirs = ({ jobId = '' }: RecordedRequest) => {
			const prompt = this.gateway.jobs.get(jobId)?.order.prompt;
			return indexes.some((index) => prompt?.startsWith(`w${index} `));
		};
		const times = indexes.length * videosEach;
		const fault = this.gateway.fault({ route: 'task', action: 'stall', times, when: isTheirs });
		while (fault.hits === 0) await setTimeout(100);
		await setTimeout(passSeconds * 1000);
		return fault;
	}

	/** Records the status that n8n shows for each just before it is stopped. */
	private async recordPhases(now: number): Promise<void> {
		this.endedAt = now;
		for (const started of this.started) {
			const [latest] = await this.owner.executionsOf(started.workflow);
			started.age = (now - started.at) / 1000;
			started.phase = latest?.status ?? 'not begun';
		}
	}

	private async fates({ report }: SweepOptions): Promise<Fate[]> {
		const fates: Fate[] = [];
		const byItself = await this.settled();
		for (const started of this.started) {
			const isSuccess = byItself.get(started) === 'success';
			let outcome: Outcome = started.phase === 'success' ? 'before' : 'byItself';
			if (!isSuccess) outcome = (await this.retried(started)) ? 'afterRetry' : 'lost';
			const fate = { ...started, outcome, ...this.results(started.name) };
			if (!fate.isWhole) fate.outcome = 'lost';
			fates.push(fate);
			if (!isSuccess) report(`${started.name}: ${byItself.get(started)}, then ${fate.outcome}`);
		}
		return fates;
	}

	private async statusOf({ workflow }: Started): Promise<string> {
		const [latest] = await this.owner.executionsOf(workflow);
		return latest?.status ?? 'none';
	}

	/** Waits until every execution has ended for good: one that n8n shows as crashed may still resume. */
	private async settled(): Promise<Map<Started, string>> {
		const seen = new Map<Started, string>();
		const begun = Date.now();
		const isOver = (status: string) =>
			status === 'success' || (!isOpen({ status }) && Date.now() > begun + startSeconds * 1000);
		await within(async () => {
			for (const started of this.started) seen.set(started, await this.statusOf(started));
			return [...seen.values()].every(isOver);
		}, patience);
		return seen;
	}

	/** Does what the Retry button does, alternately in its two ways. n8n responds when it has ended or is parked. */
	private async retried(started: Started): Promise<boolean> {
		const [latest] = await this.owner.executionsOf(started.workflow);
		if (latest === undefined) return false;
		const loadWorkflow = Number(started.name.slice(1)) % 2 === 1;
		await this.owner.request('POST', `/executions/${latest.id}/retry`, { loadWorkflow });
		const isOver = async () => !isOpen({ status: await this.statusOf(started) });
		await within(isOver, patience);
		return (await this.statusOf(started)) === 'success';
	}

	private results(name: string): Pick<Fate, 'charges' | 'isWhole' | 'isInCreate'> {
		const folder = path.join(this.files, name);
		const saved = new Set(
			readdirSync(folder).map((file) => sha256(readFileSync(path.join(folder, file)))),
		);
		const prompts = Array.from({ length: videosEach }, (_, index) => `${name} v${index}`);
		const jobs = prompts.map((prompt) => jobsOf(this.gateway, prompt));
		const isSaved = ({ video }: Job) => video !== undefined && saved.has(sha256(video.bytes));
		const isNew = ({ createdAt }: Job) => Math.abs(this.endedAt - createdAt) < inCreate;
		return {
			charges: prompts.map((prompt) => chargesOf(this.gateway, prompt)),
			isWhole: jobs.every((own) => own.some(isSaved)),
			isInCreate: jobs.flat().some(isNew),
		};
	}
}
