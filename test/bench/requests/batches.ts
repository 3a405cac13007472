import type { Figure } from '../report';
import { median, spread } from '../statistics';
import { embedding, httpRequestEmbedding, runItems, type Target } from './nodes';

const items = 1000;
const batchSize = 100;
const rounds = 3;
const leastGain = 5;

/** Measures what it gains that many items share a request. */
export async function benchBatches(
	target: Target,
	requestsDuring: (work: () => Promise<unknown>) => Promise<number>,
): Promise<Figure[]> {
	const nodes = {
		batches: embedding({ batchSize }),
		singles: embedding({ batchSize: 1 }),
		httpRequest: httpRequestEmbedding(target),
	};
	for (const node of Object.values(nodes)) await runItems(node, { target, items: 5 });

	const requests = await requestsDuring(
		async () => await runItems(nodes.batches, { target, items }),
	);
	const seconds = { batches: [] as number[], singles: [] as number[], httpRequest: [] as number[] };
	for (let round = 0; round < rounds; round++) {
		for (const name of Object.keys(nodes) as Array<keyof typeof nodes>) {
			seconds[name].push(await runItems(nodes[name], { target, items }));
		}
	}

	const [ours, singles, theirs] = Object.values(seconds).map(median);
	const expected = items / batchSize;
	return [
		{
			figure: `${items} embeddings: requests`,
			value: String(requests),
			goal: String(expected),
			met: requests === expected,
		},
		{ figure: `${items} embeddings: time`, value: spread(seconds.batches, 's', 2) },
		{
			figure: '  HTTP Request node, all items at once',
			value: spread(seconds.httpRequest, 's', 2),
		},
		{
			figure: '  embeddings: HTTP Request node / ours',
			value: `${(theirs / ours).toFixed(1)} times`,
			goal: `at least ${leastGain} times`,
			met: theirs >= leastGain * ours,
		},
		{
			figure: '  embeddings: Batch Size 1 / ours',
			value: `${singles.toFixed(2)} s = ${(singles / ours).toFixed(1)} times`,
			goal: `at least ${leastGain} times`,
			met: singles >= leastGain * ours,
		},
	];
}
