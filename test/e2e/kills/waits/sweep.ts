import type { IWorkflowBase } from 'n8n-workflow';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sampleVideo, sha256, withTitle } from '../../../engine/support/samples';
import {
	startGateway,
	type FaultHandle,
	type Gateway,
	type RecordedRequest,
} from '../../../gateway';
import { packInto } from '../../../support/packed';
import { startN8n, type N8n } from '../../support/n8n';
import { Owner, fetchPublished, type CredentialReference } from '../../support/owner';
import { core, modelGateway, startedBy, waitForVideo } from '../../support/workflows';

/**
 * How a workflow is started, and what its wait does: by a webhook that answers at once, with all settings as they
 * come; by hand, too; or by a webhook with Keep Running.
 */
export type Kind = 'active' | 'manual' | 'keepsRunning';

export interface SweepOptions {
	/** How n8n is ended: killed, or stopped as a container is, which is killed when it takes longer than 10 s. */
	signal: 'SIGKILL' | 'SIGTERM';
	/** One workflow each. They begin one after the other, so that the end of n8n meets each in another phase. */
	kinds: Kind[];
	secondsApart: number;
	/** From the order of a video to its end. */
	videoSeconds: number;
	/** Seconds from the start of the last workflow until n8n is ended. */
	killAfter: number;
	/** The workflows, by their place, whose polls hang until n8n is ended: while these have a pass under way. */
	inPass?: number[];
	/** How long n8n stays down. */
	downSeconds: number;
	report(line: string): void;
}

export type Outcome = 'before' | 'byItself' | 'afterRetry' | 'lost';

/** What became of one workflow of three videos. */
export interface Fate {
	name: string;
	/** Its age when n8n was ended, in seconds. */
	age: number;
	/** What n8n said of it when it was ended. */
	phase: string;
	outcome: Outcome;
	/** How often each of its videos was charged. */
	charges: number[];
	/** Whether every video was saved, byte for byte. */
	isWhole: boolean;
	/** Whether an order was under way, of which n8n cannot know. */
	isInCreate: boolean;
}

const videosEach = 3;
/** Longer than a pass without downloads takes on a busy machine. */
const passSeconds = 5;
/** Seconds that an execution may need after a restart: n8n's start, its look once a minute, and a pass. */
const patience = 260;
/** For so long after its start, n8n may show an execution as crashed that goes on. */
const startSeconds = 90;

const isOpen = (status: string) => ['new', 'running', 'waiting'].includes(status);

/** Milliseconds that the answer to an order, and n8n's first storing of it, may take. */
const inCreate = 1_000;

/**
 * Starts workflows of the quick start (a trigger, Create, Wait for Video, a file; all settings as they come), ends
 * n8n in the middle, starts it again, presses Retry once for each that does not go on by itself, and looks what
 * became of them.
 */
export async function sweep(options: SweepOptions): Promise<Fate[]> {
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-kills-'));
	const video = await sampleVideo();
	const gateway = await startGateway({
		jobSeconds: options.videoSeconds,
		render: async ({ caption }) => withTitle(video, caption),
	});
	let n8n: N8n | undefined;
	try {
		n8n = await startN8n({ tarball: packInto(folder).tarball, folder });
		const stage = new Stage(await Owner.of(n8n), gateway, path.join(folder, '.n8n-files'));
		await stage.start(n8n, options);
		await setTimeout(options.killAfter * 1000);
		const hanging = options.inPass && (await stage.hangIn(options.inPass));
		await stage.lookAt(Date.now());
		await (options.signal === 'SIGKILL' ? n8n.kill() : n8n.stop());
		options.report(
			`n8n was ended by ${options.signal}, and stays down for ${options.downSeconds} s`,
		);
		hanging?.remove();
		await setTimeout(options.downSeconds * 1000);
		n8n = await startN8n({ folder });
		stage.owner = await Owner.of(n8n);
		return await stage.fates(options);
	} finally {
		await n8n?.kill();
		await gateway.close();
		rmSync(folder, { recursive: true, force: true });
	}
}

interface Started {
	name: string;
	workflow: IWorkflowBase;
	at: number;
	age: number;
	phase: string;
}

class Stage {
	private readonly started: Started[] = [];
	private endedAt = 0;
	private credential?: CredentialReference;

	constructor(
		public owner: Owner,
		private readonly gateway: Gateway,
		private readonly files: string,
	) {}

	async start({ url }: N8n, { kinds, secondsApart, report }: SweepOptions): Promise<void> {
		this.credential = await this.owner.createCredential(this.gateway);
		const all: Array<{ name: string; kind: Kind; workflow: IWorkflowBase }> = [];
		for (const [index, kind] of kinds.entries()) {
			const name = `w${index}`;
			mkdirSync(path.join(this.files, name));
			const workflow = await this.owner.createWorkflow(this.workflow(name, kind));
			if (kind !== 'manual') await this.owner.publish(workflow);
			all.push({ name, kind, workflow });
		}
		for (const { name, kind, workflow } of all) {
			if (this.started.length > 0) await setTimeout(secondsApart * 1000);
			this.started.push({ name, workflow, at: Date.now(), age: 0, phase: '' });
			if (kind === 'manual') {
				await this.owner.start(workflow);
				continue;
			}
			const answer = await fetchPublished(`${url}/webhook/${name}-start`);
			if (!answer.ok) throw new Error(`The webhook answered ${answer.status}`);
		}
		report(
			`${kinds.length} workflows of ${videosEach} videos were started, ${secondsApart} s apart`,
		);
	}

	private workflow(name: string, kind: Kind) {
		const credential = this.credential as CredentialReference;
		const media = [{ type: 'reference_image', url: this.picture }];
		const trigger =
			kind === 'manual' ? 'manualTrigger' : core('Start', 'webhook', { path: `${name}-start` }, 2);
		const videos = Array.from({ length: videosEach }, (_, index) => ({
			video: `${name} v${index}`,
		}));
		const list = core('List', 'set', { mode: 'raw', jsonOutput: JSON.stringify({ videos }) }, 3.4);
		const split = core('Each', 'splitOut', { fieldToSplitOut: 'videos' });
		const create = modelGateway(
			{
				...{ resource: 'referenceVideo', operation: 'create' },
				model: { __rl: true, mode: 'id', value: 'beta-2.7-r2v' },
				prompt: '={{ $json.video }}',
				...{ mediaInput: 'json', mediaJson: JSON.stringify(media) },
			},
			credential,
		);
		const wait = waitForVideo(kind === 'keepsRunning' ? { whileWaiting: 'hold' } : {}, credential);
		const fileName = `=${path.join(this.files, name)}/{{ $("Each").item.json.video }}.mp4`;
		const save = core('Save', 'readWriteFile', { operation: 'write', fileName });
		return { ...startedBy(trigger, list, split, create, wait, save), name };
	}

	private get picture(): string {
		return this.gateway.addMedia('dot.png', dot, 'image/png');
	}

	/** Lets polls of these workflows hang; settles in a pass of theirs, when those of all others should be over. */
	async hangIn(places: number[]): Promise<FaultHandle> {
		const isTheirs = ({ jobId = '' }: RecordedRequest) => {
			const prompt = this.gateway.jobs.get(jobId)?.order.prompt;
			return places.some((place) => prompt?.startsWith(`w${place} `));
		};
		const times = places.length * videosEach;
		const fault = this.gateway.fault({ route: 'task', action: 'stall', times, when: isTheirs });
		while (fault.hits === 0) await setTimeout(100);
		await setTimeout(passSeconds * 1000);
		return fault;
	}

	/** What n8n says of each just before it ends. */
	async lookAt(now: number): Promise<void> {
		this.endedAt = now;
		for (const started of this.started) {
			const [latest] = await this.owner.executionsOf(started.workflow);
			started.age = (now - started.at) / 1000;
			started.phase = latest?.status ?? 'not begun';
		}
	}

	async fates({ report }: SweepOptions): Promise<Fate[]> {
		const fates: Fate[] = [];
		const byItself = await this.settled((started) => this.statusOf(started));
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

	/** Waits until every execution has ended, and does not go on after all. */
	private async settled(
		statusOf: (started: Started) => Promise<string>,
	): Promise<Map<Started, string>> {
		const seen = new Map<Started, string>();
		const begun = Date.now();
		const isOver = (status: string) =>
			status === 'success' || (!isOpen(status) && Date.now() > begun + startSeconds * 1000);
		while (Date.now() < begun + patience * 1000) {
			for (const started of this.started) seen.set(started, await statusOf(started));
			if ([...seen.values()].every(isOver)) break;
			await setTimeout(2_000);
		}
		return seen;
	}

	/** What the button does, in both its ways in turn: n8n answers when the execution has ended, or is parked. */
	private async retried({ name, workflow }: Started): Promise<boolean> {
		const [latest] = await this.owner.executionsOf(workflow);
		if (latest === undefined) return false;
		const loadWorkflow = Number(name.slice(1)) % 2 === 1;
		await this.owner.request('POST', `/executions/${latest.id}/retry`, { loadWorkflow });
		for (const deadline = Date.now() + patience * 1000; Date.now() < deadline;) {
			const [newest] = await this.owner.executionsOf(workflow);
			if (newest.status === 'success') return true;
			if (!isOpen(newest.status)) return false;
			await setTimeout(1_000);
		}
		return false;
	}

	private results(name: string): Pick<Fate, 'charges' | 'isWhole' | 'isInCreate'> {
		const jobs = this.gateway.jobs.list();
		const folder = path.join(this.files, name);
		const saved = new Set(
			readdirSync(folder).map((file) => sha256(readFileSync(path.join(folder, file)))),
		);
		const own = Array.from({ length: videosEach }, (_, index) =>
			jobs.filter(({ order }) => order.prompt === `${name} v${index}`),
		);
		const charges = own.map((made) =>
			made.reduce(
				(sum, { id }) => sum + this.gateway.ledger.filter(({ job }) => job === id).length,
				0,
			),
		);
		const isWhole = own.every((made) =>
			made.some(({ video }) => video !== undefined && saved.has(sha256(video.bytes))),
		);
		const isInCreate = own
			.flat()
			.some(({ createdAt }) => Math.abs(this.endedAt - createdAt) < inCreate);
		return { charges, isWhole, isInCreate };
	}
}

/** A PNG of one pixel. */
const dot = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64',
);
