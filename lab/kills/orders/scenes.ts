import type { IWorkflowBase } from 'n8n-workflow';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { picture } from '../../../test/support/data/samples';
import type { Gateway, RecordedRequest } from '../../../gateway';
import {
	callWebhook,
	isOpen,
	isUnderWay,
	type Execution,
	type Owner,
} from '../../../test/n8n/owner';
import { until, within } from '../../../test/support/time/until';
import { chargesOf, jobsOf } from '../../../test/n8n/charges';
import { Brake, slowDown, type Moment } from './moments';
import { orderWorkflow, prices, promptsOf, type OrderWorkflow } from './workflow';

/** One workflow, and the moment at which its execution should be killed. */
export interface Plan {
	workflow: OrderWorkflow;
	/** Undefined: a random moment. */
	moment?: Moment;
}

/** A plan in an n8n. */
export interface Scene extends Plan {
	saved: IWorkflowBase;
	brake?: Brake;
}

/** Whether it has ended without success, so that it can be retried. */
export const isOver = (execution: Execution) =>
	execution.status !== 'success' && !isOpen(execution);

/** Seconds in which n8n looks for parked executions twice, on a busy machine. */
const patience = 200;

/** The workflows in an n8n, whose executions are controlled by REST. */
export class Scenes {
	readonly all: Scene[] = [];
	private readonly end = new AbortController();
	private readonly ended = once(this.end.signal, 'abort');

	constructor(
		public owner: Owner,
		private readonly gateway: Gateway,
	) {}

	/** Publishes all workflows, and brings executions to the moments that are planned. */
	async start(plans: Plan[]): Promise<void> {
		const credential = await this.owner.createCredential(this.gateway, {
			advanced: true,
			prices: JSON.stringify(prices),
		});
		const link = this.gateway.addMedia('picture.png', picture('green'), 'image/png');
		for (const { workflow, moment } of plans) {
			const saved = await this.owner.createPublished(orderWorkflow(workflow, credential, link));
			this.all.push({ workflow, moment, saved });
		}
		const placed = this.all.filter(({ moment }) => moment !== undefined);
		for (const scene of placed) {
			const { moment, workflow } = scene;
			scene.brake = new Brake(this.gateway, moment as Moment, workflow, this.ended);
			await this.call(scene);
		}
		for (const scene of placed) await this.reached(scene);
	}

	/**
	 * Starts the others one after the other, until half of them have sent an order. The orders take a while, before or
	 * after they are accepted.
	 */
	async startAtRandom(millisecondsApart: number): Promise<void> {
		const others = this.all.filter(({ moment }) => moment === undefined);
		const hasSent = () =>
			others.filter((scene) => this.sent(scene) > 0).length >= others.length / 2;
		for (const [index, scene] of others.entries()) {
			if (hasSent()) return;
			slowDown(this.gateway, scene.workflow, index % 2 === 0);
			this.call(scene).catch(() => undefined);
			await setTimeout(millisecondsApart);
		}
		await until(hasSent, patience);
	}

	/** Presses Stop for all executions under way, one workflow after the other. */
	async stopAll(millisecondsApart: number): Promise<void> {
		for (const { saved } of this.all) {
			for (const execution of await this.owner.executionsOf(saved)) {
				if (!isOpen(execution)) continue;
				const { id } = execution;
				// It may end by itself at this moment.
				await this.owner.request('POST', `/executions/${id}/stop`).catch(() => undefined);
			}
			await setTimeout(millisecondsApart);
		}
	}

	/** To be called after the kill: the service accepts late orders, and no fault remains. */
	release(): void {
		this.end.abort();
		for (const { brake } of this.all) brake?.release();
	}

	/** The execution as n8n has stored it, once it no longer runs. */
	async stored(scene: Scene): Promise<Execution | undefined> {
		await until(async () => !isUnderWay({ status: await this.statusOf(scene) }), patience);
		const [latest] = await this.owner.executionsOf(scene.saved);
		return latest && (await this.owner.execution(latest.id));
	}

	/**
	 * Does what the Retry button does. n8n responds when the execution has ended or is parked.
	 * @returns the new execution; undefined if n8n refuses the Retry
	 */
	async retry({ id }: Execution, loadWorkflow: boolean): Promise<Execution | undefined> {
		try {
			const retried = await this.owner.request<{ id: string }>('POST', `/executions/${id}/retry`, {
				loadWorkflow,
			});
			return await this.owner.execution(retried.id);
		} catch (error) {
			if (/gave (4\d\d|500)/.test(String(error))) return undefined;
			throw error;
		}
	}

	/** All executions of a workflow, once they have ended or, without waiting for videos, once n8n runs none. */
	async executions(
		{ saved }: Scene,
		awaitsVideos: boolean,
	): Promise<{ executions: Execution[]; hanging: Execution[] }> {
		const isAwaited = awaitsVideos ? isOpen : isUnderWay;
		const listed = async () => await this.owner.executionsOf(saved);
		const isQuiet = await within(async () => !(await listed()).some(isAwaited), patience);
		const executions = await Promise.all(
			(await listed()).map(async ({ id }) => await this.owner.execution(id)),
		);
		// A parked execution may have gone on since then.
		return { executions, hanging: isQuiet ? [] : executions.filter(isAwaited) };
	}

	/** The number of orders that a workflow has sent. */
	sent({ workflow }: Plan): number {
		const isOwn = ({ route, body }: RecordedRequest) =>
			route === 'referenceVideoCreate' && textOf(body).includes(`"${workflow.name} v`);
		return this.gateway.requests.filter(isOwn).length;
	}

	/** How often each order of a workflow was charged. */
	charges({ workflow }: Plan): number[] {
		return promptsOf(workflow).map((prompt) => chargesOf(this.gateway, prompt));
	}

	/** The jobs that a workflow has ordered. */
	jobs({ workflow }: Plan): Array<{ id: string; prompt: string }> {
		return promptsOf(workflow).flatMap((prompt) =>
			jobsOf(this.gateway, prompt).map(({ id }) => ({ id, prompt })),
		);
	}

	private async call({ workflow: { name } }: Scene): Promise<void> {
		await callWebhook(this.owner.url, name);
	}

	private async reached(scene: Scene): Promise<void> {
		const { brake, moment, workflow } = scene;
		const isReached = async () =>
			Boolean(brake?.isReached) && (await this.statusOf(scene)) === moment?.status;
		if (await within(isReached, patience)) return;
		throw new Error(`${workflow.name} did not reach: ${moment?.name}`);
	}

	private async statusOf({ saved }: Scene): Promise<string> {
		const [latest] = await this.owner.executionsOf(saved, 1);
		return latest?.status ?? 'none';
	}
}

const textOf = (value: unknown) => JSON.stringify(value ?? '');
