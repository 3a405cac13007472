import axios from 'axios';
import type { INodeExecutionData, IWorkflowBase } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { isOpen, type Execution } from '../../test/n8n/owner';
import { cpuSeconds, memory, resetPeak } from '../n8n/processUsage';
import { core, startedBy, type Node } from '../../test/support/workflows/workflows';
import type { WorkflowJson } from '../../test/harness/workflow';
import type { GatewayName } from './service';
import type { Counts } from './traffic';
import type { Setup } from './work';

/** The cost of one execution. */
export interface Measured extends Counts {
	/** From its start to its end, as stored by n8n. */
	seconds: number;
	/** Figures of n8n's process, until it was idle again. */
	cpuSeconds: number;
	/** Peak memory of that process minus its memory before, in bytes. */
	growth: number;
	execution: Execution;
	/** The output of the node {@link resultName}, in all its runs. */
	items: INodeExecutionData[];
}

/** One way to do a piece of work. */
export interface Way {
	name: string;
	workflow: WorkflowJson;
	/** The gateway that it uses. */
	gateway: GatewayName;
	/** Whether the webhook responds before the work is done. */
	respondsAtOnce?: boolean;
}

/** The node whose output is checked. */
export const resultName = 'Result';

/** A webhook, then these nodes, which get an item with a `text` for each text in the call. */
export function fromTexts(nodes: Node[], { respondsAtOnce = false } = {}): WorkflowJson {
	const hook = {
		httpMethod: 'POST',
		path: randomUUID(),
		...(respondsAtOnce
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

	/** Runs it once, and measures the cost. */
	async run(texts: string[]): Promise<Measured> {
		const { setup, way } = this;
		const { pid, owner } = setup.instance;
		await settled(pid);
		await this.counts();
		resetPeak(pid);
		const [cpu, { now }] = [cpuSeconds(pid), memory(pid)];
		await this.call(texts);
		if (way.respondsAtOnce) await this.ended();
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
		// A failure shows in the execution.
		const call = async () => await axios.post(url, { texts }, { validateStatus: () => true });
		// n8n reports a webhook as published a moment before it serves it.
		for (let tries = 0; (await call()).status === 404; tries++) {
			if (tries === 50) throw new Error(`n8n does not serve ${this.way.name}`);
			await setTimeout(100);
		}
	}

	/** Checks rarely, because each check costs n8n CPU time, which is measured. */
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
/** Share of one core. */
const maxIdleShare = 0.04;

/** Waits until a process is idle, for at most this many seconds. */
export async function settled(pid: number, seconds = 20): Promise<void> {
	for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline;) {
		const before = cpuSeconds(pid);
		await setTimeout(stepMilliseconds);
		const share = ((cpuSeconds(pid) - before) * 1000) / stepMilliseconds;
		if (share <= maxIdleShare) return;
	}
}
