import type { FaultHandle, FaultRule, Gateway, RecordedRequest } from '../../../gateway';
import { forms, type Form, type OrderWorkflow } from './workflow';

/** The place of an execution at which n8n is killed. */
export interface Moment {
	name: string;
	/** The forms of workflows that can be there. */
	forms: readonly Form[];
	/** The faults that keep the execution there. @param ended resolves when n8n was killed */
	rules(workflow: OrderWorkflow, ended: Promise<unknown>): FaultRule[];
	workflow?: Partial<OrderWorkflow>;
	/** The status that n8n shows for the execution at this moment. */
	status: 'running' | 'waiting' | 'error';
	/** Whether nothing was accepted, and n8n knows that, so that a Retry has to place the order. */
	isUnsent?: boolean;
}

const isOrderOf =
	({ name }: OrderWorkflow, place = '') =>
	({ body }: RecordedRequest) =>
		JSON.stringify(body ?? '').includes(`"${name} v${place}`);
const isFetchBy =
	({ name }: OrderWorkflow, node: string) =>
	({ url }: RecordedRequest) =>
		url.endsWith(`?${name}-${node}`);

const create = { route: 'referenceVideoCreate' } as const;
const toCreate = (workflow: OrderWorkflow) => ({
	...create,
	times: workflow.form === 'three' ? 3 : 1,
	when: isOrderOf(workflow),
});
const refusal = { action: 'error', status: 400, code: 'invalid_prompt' } as const;

/** From before an order to the wait for its video, in sequence. */
export const moments: Moment[] = [
	{
		name: 'a node before Create running',
		forms: ['file'],
		rules: (workflow) => [{ route: 'media', action: 'stall', when: isFetchBy(workflow, 'Before') }],
		status: 'running',
		isUnsent: true,
	},
	{
		name: 'recorded, one of three sent',
		forms: ['three'],
		workflow: { isSerial: true },
		rules: (workflow) => [{ ...create, action: 'stall', when: isOrderOf(workflow) }],
		status: 'running',
	},
	{
		name: 'sent, never accepted',
		forms,
		rules: (workflow) => [{ ...toCreate(workflow), action: 'stall' }],
		status: 'running',
	},
	{
		name: 'sent, accepted later',
		forms,
		rules: (workflow, ended) => [{ ...toCreate(workflow), action: 'stall', until: ended }],
		status: 'running',
	},
	{
		name: 'accepted, no response yet',
		forms,
		rules: (workflow) => [{ ...toCreate(workflow), action: 'stall', accepted: true }],
		status: 'running',
	},
	{
		name: 'accepted, half a response',
		forms,
		rules: (workflow) => [{ ...toCreate(workflow), action: 'freeze', after: '50%' }],
		status: 'running',
	},
	{
		name: 'one response arrived, two not',
		forms: ['three'],
		rules: (workflow) =>
			['1', '2'].map((place) => ({
				...create,
				action: 'stall',
				accepted: true,
				when: isOrderOf(workflow, place),
			})),
		status: 'running',
	},
	{
		name: 'one refused, two without response',
		forms: ['three'],
		rules: (workflow) => [
			{ ...create, ...refusal, when: isOrderOf(workflow, '0') },
			...['1', '2'].map((place) => ({
				...create,
				action: 'stall' as const,
				accepted: true,
				when: isOrderOf(workflow, place),
			})),
		],
		status: 'running',
	},
	{
		name: 'one response lost, two without response',
		forms: ['three'],
		rules: (workflow) => [
			{ ...create, action: 'reset', accepted: true, when: isOrderOf(workflow, '0') },
			...['1', '2'].map((place) => ({
				...create,
				action: 'stall' as const,
				accepted: true,
				when: isOrderOf(workflow, place),
			})),
		],
		status: 'running',
	},
	{
		name: 'refused, execution stored',
		forms,
		rules: (workflow) => [{ ...toCreate(workflow), ...refusal }],
		status: 'error',
		isUnsent: true,
	},
	{
		name: 'response arrived, next node running',
		forms,
		workflow: { hasNodeAfter: true },
		rules: (workflow) => [{ route: 'media', action: 'stall', when: isFetchBy(workflow, 'After') }],
		status: 'running',
	},
	{
		name: 'the same, progress saved',
		forms,
		workflow: { hasNodeAfter: true, savesProgress: true },
		rules: (workflow) => [{ route: 'media', action: 'stall', when: isFetchBy(workflow, 'After') }],
		status: 'running',
	},
	{ name: 'parked', forms, rules: () => [], status: 'waiting' },
	// Comes last, because this moment passes by itself.
	{
		name: 'delayed by a 429',
		forms,
		rules: (workflow) => [
			{
				...toCreate(workflow),
				action: 'error',
				status: 429,
				code: 'rate_limit_exceeded',
				headers: { 'retry-after': '50' },
			},
		],
		status: 'running',
	},
];

/** Delays the orders of a workflow a little, before or after they are accepted. */
export function slowDown(gateway: Gateway, workflow: OrderWorkflow, accepted: boolean): void {
	gateway.fault({ ...toCreate(workflow), action: 'stall', seconds: 0.4, accepted });
}

/** Keeps a workflow at its moment, and knows whether the moment is reached. */
export class Brake {
	private readonly rules: Array<{ times: number; handle: FaultHandle }>;

	constructor(gateway: Gateway, moment: Moment, workflow: OrderWorkflow, ended: Promise<unknown>) {
		this.rules = moment
			.rules(workflow, ended)
			.map((rule) => ({ times: rule.times ?? 1, handle: gateway.fault(rule) }));
	}

	get isReached(): boolean {
		return this.rules.every(({ times, handle }) => handle.hits >= times);
	}

	release(): void {
		for (const { handle } of this.rules) handle.remove();
	}
}
