import { atLeast, type Figure } from '../report';
import { inTurns, median, spread } from '../statistics';
import { embedding, httpRequestEmbedding, runItems, type Target } from './nodes';

const items = 1000;
const batchSize = 100;
const minGain = 5;

/** Measures the gain when many items share a request. @param requests returns how many the gateway has received */
export async function measureBatches(
	target: Target,
	requests: () => Promise<number>,
): Promise<Figure[]> {
	const nodes = {
		batches: embedding({ batchSize }),
		singles: embedding({ batchSize: 1 }),
		httpRequest: httpRequestEmbedding(target),
	};
	for (const node of Object.values(nodes)) await runItems(node, { target, items: 5 });

	const run = (name: keyof typeof nodes) => async () =>
		await runItems(nodes[name], { target, items });
	const before = await requests();
	await run('batches')();
	const sent = (await requests()) - before;
	const seconds = await inTurns(
		{ batches: run('batches'), singles: run('singles'), httpRequest: run('httpRequest') },
		{ rounds: 3 },
	);

	const ours = median(seconds.batches);
	const theirs = median(seconds.httpRequest);
	const singles = median(seconds.singles);
	const times = { unit: 'times', digits: 1 };
	const expected = items / batchSize;
	return [
		{
			figure: `${items} embeddings: requests`,
			value: String(sent),
			goal: String(expected),
			met: sent === expected,
		},
		{ figure: `${items} embeddings: time`, value: spread(seconds.batches, 's', 2) },
		{
			figure: '  HTTP Request node, all items at once',
			value: spread(seconds.httpRequest, 's', 2),
		},
		atLeast('  embeddings: HTTP Request node / ours', theirs / ours, minGain, times),
		atLeast('  embeddings: Batch Size 1 / ours', singles / ours, minGain, {
			unit: 'times',
			value: `${singles.toFixed(2)} s = ${(singles / ours).toFixed(1)} times`,
		}),
	];
}
