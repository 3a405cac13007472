import axios from 'axios';
import type { INodeExecutionData, IWorkflowBase } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { isOpen, type Execution } from '../../n8n/owner';
import { cpuSeconds, memory, resetPeak } from '../../n8n/processUsage';
import { core, startedBy, type Node } from '../../support/workflows';
import type { WorkflowJson } from '../../harness/workflow';
import type { GatewayName } from './service';
import type { Counts } from './traffic';
import type { Setup } from './work';

/** What one execution took. */
export interface Measured extends Counts {
	/** From its start to its end, as n8n has stored them. */
	seconds: number;
	/** Of the process of n8n, until it was at rest again. */
	cpuSeconds: number;
	/** Bytes by which that process was larger than before, at its largest. */
	growth: number;
	execution: Execution;
	/** What the node {@link resultName} put out, in all its runs. */
	items: INodeExecutionData[];
}

/** One way to do a work. */
export interface Way {
	name: string;
	workflow: WorkflowJson;
	/** Which gateway it talks to. */
	gateway: GatewayName;
	/** Whether whoever calls the webhook is answered before the work is done. */
	isAnsweredAtOnce?: boolean;
}

/** The node whose output is looked at. */
export const resultName = 'Result';

/** A row of nodes behind a webhook, which gives each of them an item with its `text`. */
export function fromTexts(nodes: Node[], { isAnsweredAtOnce = false } = {}): WorkflowJson {
	const hook = {
		...{ httpMethod: 'POST', path: randomUUID() },
		...(isAnsweredAtOnce
			? { responseMode: 'onReceived' }
			: { responseMode: 'lastNode', responseData: 'noData' }),
	};
	const split = {
		fieldToSplitOut: 'body.texts',
		options: { destinationFieldName: 'text' },
	};
	return startedBy(core('Start', 'webhook', hook, 2), core('Texts', 'splitOut', split), ...nodes);
}

/** A way whose workflow n8n has published. */
export class PublishedWay {
	private constructor(
		private readonly setup: Setup,
		readonly way: Way,
		private readonly stored: IWorkflowBase,
	) {}

	static async publish(setup: Setup, way: Way): Promise<PublishedWay> {
		const stored = await setup.instance.owner.createPublished(way.workflow);
		return new PublishedWay(setup, way, stored);
	}

	/** Runs it once, and takes what it takes. */
	async run(texts: string[]): Promise<Measured> {
		const { setup, way } = this;
		const { pid, owner } = setup.instance;
		await settled(pid);
		await this.counts();
		resetPeak(pid);
		const [cpu, { now }] = [cpuSeconds(pid), memory(pid)];
		await this.call(texts);
		if (way.isAnsweredAtOnce) await this.ended();
		await settled(pid);
		const used = {
			cpuSeconds: cpuSeconds(pid) - cpu,
			growth: memory(pid).peak - now,
			...(await this.counts()),
		};
		const execution = await owner.ended((await this.latest()).id);
		const { startedAt, stoppedAt, data } = execution;
		const runs = data.resultData.runData[resultName] ?? [];
		return {
			...used,
			seconds: (Date.parse(stoppedAt) - Date.parse(startedAt)) / 1000,
			execution,
			items: runs.flatMap((run) => run.data?.main?.[0] ?? []),
		};
	}

	private async call(texts: string[]): Promise<void> {
		const { path } = this.stored.nodes[0].parameters;
		const url = `${this.setup.instance.url}/webhook/${path}`;
		// A failure is told by the execution.
		const ask = async () => await axios.post(url, { texts }, { validateStatus: () => true });
		// n8n publishes a moment before it answers there.
		for (let tries = 0; (await ask()).status === 404; tries++) {
			if (tries === 50) throw new Error(`n8n does not serve ${this.way.name}`);
			await setTimeout(100);
		}
	}

	/** Looks seldom, for it is n8n that is measured. */
	private async ended(): Promise<void> {
		while (isOpen(await this.latest())) await setTimeout(2000);
	}

	private async latest(): Promise<{ id: string; status: string }> {
		const [latest] = await this.setup.instance.owner.executionsOf(this.stored, 1);
		return latest;
	}

	private async counts(): Promise<Counts> {
		return await this.setup.service.traffic(this.way.gateway);
	}
}

const stepMilliseconds = 500;
/** Of one core. */
const mostIdleShare = 0.04;

/** Waits until a process has come to rest, for at most so many seconds. */
export async function settled(pid: number, seconds = 20): Promise<void> {
	for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline;) {
		const before = cpuSeconds(pid);
		await setTimeout(stepMilliseconds);
		const share = ((cpuSeconds(pid) - before) * 1000) / stepMilliseconds;
		if (share <= mostIdleShare) return;
	}
}
