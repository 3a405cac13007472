import type { IDataObject, INode } from 'n8n-workflow';
import type { FaultAction, Gateway, RecordedRequest } from '../../../gateway';
import { retryExecution, runWorkflow } from '../../harness';
import { earlierJob } from '../../support/workflows/earlierJobs';
import {
	chargesFor,
	generations,
	isFor,
	itemsWith,
	jobCreates,
	jobReads,
	type ItemOperation,
} from '../../support/workflows/itemOperations';
import { picture } from '../../support/data/samples';
import { withGateway } from '../../support/http/withGateway';
import { chain, credentialFor, modelGateway } from '../../support/workflows/workflows';

/** When a fault fails its item: at its first request, after all tries, or never. */
type End = 'at once' | 'after its tries' | 'never';

interface ItemFault {
	name: string;
	fault: FaultAction;
	times?: number;
	end: End;
	/** For a create of a job, if that is different. */
	endOfJob?: End;
}

const refusal = (status: number, code: string, retryAfter?: number): FaultAction => ({
	...{ action: 'error', status, code, message: 'so it says' },
	...(retryAfter && { headers: { 'retry-after': String(retryAfter) } }),
});

const faults: ItemFault[] = [
	{
		...{ name: '400 invalid_prompt', fault: refusal(400, 'invalid_prompt') },
		...{ times: Infinity, end: 'at once' },
	},
	{
		...{ name: '401', fault: refusal(401, 'invalid_api_key') },
		...{ times: Infinity, end: 'at once' },
	},
	{
		...{ name: 'a lost response', fault: { action: 'reset', accepted: true } },
		...{ end: 'never', endOfJob: 'at once' },
	},
	{ name: 'one 429 with Retry-After: 60', fault: refusal(429, 'rate_limit', 60), end: 'never' },
	{ name: 'one 500 upstream_error', fault: refusal(500, 'upstream_error'), end: 'never' },
	{
		...{ name: 'every 429 with Retry-After: 300', fault: refusal(429, 'rate_limit', 300) },
		...{ times: Infinity, end: 'after its tries' },
	},
];
const allPairs = faults.flatMap((first, index) =>
	faults.slice(index + 1).map((second) => ({
		...{ pair: [first, second], title: `${first.name}; ${second.name}` },
	})),
);

const operations: ItemOperation[] = [...jobCreates, ...generations, ...jobReads];

describe.each(operations)('two items of $name meet two faults', (operation) => {
	// Each create meets all pairs, and each other operation a third of them.
	const pairs = allPairs.filter(
		(_, index) =>
			jobCreates.includes(operation) || (index + operations.indexOf(operation)) % 3 === 0,
	);
	const { route, parameters } = operation;
	const isJob = jobCreates.includes(operation);
	const isRead = jobReads.includes(operation);
	let gateway: Gateway;
	let media: IDataObject[];
	withGateway(
		{
			...{ isTimeSimulated: true, jobSeconds: Infinity },
			...{ render: async () => new Uint8Array(0), draw: async () => picture('red', 32, 24) },
		},
		(world) => void ({ gateway, media } = world),
	);

	const kind = route === 'task' ? 'task' : 'video';
	const endOf = ({ end, endOfJob = end }: ItemFault) => (isJob ? endOfJob : end);

	/** Each fault hits the requests of its item. */
	const arrange = (pair: ItemFault[]) => {
		const texts = pair.map((_, index) =>
			isRead ? earlierJob(gateway, kind, new Uint8Array(1)).id : `Text ${index}.`,
		);
		const armed = pair.map(({ fault, times }, index) =>
			gateway.fault({ ...fault, route, times, when: isFor(texts[index]) }),
		);
		return { texts, armed };
	};
	const run = async (texts: string[], settings: Partial<INode> = {}) =>
		await runWorkflow(chain(modelGateway(parameters, settings)), {
			...{ credentials: credentialFor(gateway), input: itemsWith(texts, { media }) },
			mode: 'trigger',
		});
	const sent = () => gateway.requests.filter((request) => request.route === route);

	/** When the exchanges of each item ended. */
	const watchEnds = (texts: string[]) => {
		const ends = texts.map((): number[] => []);
		gateway.on('request', (request: RecordedRequest) => {
			texts.forEach((text, index) => isFor(text)(request) && ends[index].push(Date.now()));
		});
		return ends;
	};
	/** When the first item failed for good. */
	const firstFailure = (pair: ItemFault[], ends: number[][]) => {
		const endsOf = (end: End, from: number, to?: number) =>
			ends.flatMap((all, index) => (endOf(pair[index]) === end ? all.slice(from, to) : []));
		const atOnce = endsOf('at once', 0, 1);
		const later = endsOf('after its tries', -1);
		return Math.min(...(atOnce.length > 0 ? atOnce : later));
	};
	const expectChargedOnce = (texts: string[]) => {
		for (const text of texts) expect(chargesFor(gateway, text)).toBeLessThanOrEqual(1);
	};

	const failing = pairs.filter(({ pair }) => pair.some((fault) => endOf(fault) !== 'never'));
	it.each(failing)(
		'sends and waits no more once an item has failed, and a Retry orders nothing twice: $title',
		async ({ pair }) => {
			const { texts, armed } = arrange(pair);
			const ends = watchEnds(texts);
			const failed = await run(texts);
			const ended = Date.now();
			expectChargedOnce(texts);
			const failedAt = firstFailure(pair, ends);
			const error = failed.errorOf('Model Gateway');
			const secondsAfter = sent().map(({ at }) => (at - failedAt) / 1000);
			expect(secondsAfter.filter((seconds) => seconds > 0)).toEqual([]);
			expect(ended - failedAt).toBeLessThan(500);
			const shown = `${error?.message} ${error?.description}`;
			const known = isJob ? sent().filter(({ status }) => status === 200) : [];
			for (const { jobId } of known) expect(shown).toContain(jobId);

			armed.forEach((fault) => fault.remove());
			const retried = await retryExecution(failed);
			expectChargedOnce(texts);
			// Only a person knows whether an order whose response was lost may be placed again.
			const isOpen = isJob && pair.some(({ fault }) => fault.action === 'reset');
			expect(retried.status).toBe(isOpen ? 'error' : 'success');
		},
	);

	it.each(pairs)(
		'gives each item its output when the node continues on error: $title',
		async ({ pair }) => {
			const { texts } = arrange(pair);
			const items = (await run(texts, { onError: 'continueRegularOutput' })).items('Model Gateway');
			expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
			expect(items.map(({ json }) => json.error === undefined)).toEqual(
				pair.map((fault) => endOf(fault) === 'never'),
			);
			expectChargedOnce(texts);
			pair.forEach((fault, index) => {
				if (endOf(fault) !== 'never' || isRead) return;
				expect(chargesFor(gateway, texts[index])).toBe(1);
			});
		},
	);
});
