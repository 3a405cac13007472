import { atMost, type Figure } from '../report';
import { inTurns, median, spread } from '../statistics';
import { bareChats } from './bare';
import { minimalChat } from './minimalNode';
import { chat, httpRequestChat, runItems, type Target } from './nodes';

const items = 2000;
const parallel = 10;
/** Relative to the CPU of axios alone, with as many requests in flight. */
const maxRatio = 2;

/** Measures the CPU time of an item in the process that runs the engine. */
export async function measureCpu(target: Target): Promise<Figure[]> {
	const perItem = (work: () => Promise<unknown>) => async () => {
		const before = process.cpuUsage();
		await work();
		const { user, system } = process.cpuUsage(before);
		return (user + system) / 1000 / items;
	};
	const bare = (options: { parallel: number; keepAlive: boolean }) =>
		perItem(async () => await bareChats(target, { items, ...options }));
	const node = (own: Parameters<typeof runItems>[0]) =>
		perItem(async () => await runItems(own, { target, items }));
	const each = await inTurns(
		{
			ours: node(chat({ parallelRequests: parallel })),
			loop: bare({ parallel: 1, keepAlive: true }),
			sideBySide: bare({ parallel, keepAlive: true }),
			connecting: bare({ parallel, keepAlive: false }),
			minimal: node(minimalChat(target, parallel)),
			httpRequest: node(httpRequestChat(target)),
		},
		{ rounds: 3, warmUps: 1 },
	);
	const ratio = (one: keyof typeof each, other: keyof typeof each) =>
		median(each[one]) / median(each[other]);
	const cpu = (figure: string, values: number[]) => ({ figure, value: spread(values, 'ms', 2) });
	return [
		cpu(`${items} chats: CPU of an item`, each.ours),
		cpu('  axios in a loop', each.loop),
		cpu('  axios, as many in flight', each.sideBySide),
		cpu('  axios, as many in flight, a new connection for each, as in n8n', each.connecting),
		cpu('  a node in n8n that only sends', each.minimal),
		cpu('  HTTP Request node', each.httpRequest),
		atMost(
			'  CPU of an item: ours / axios, as many in flight',
			ratio('ours', 'sideBySide'),
			maxRatio,
			{
				digits: 2,
			},
		),
		{
			figure: '  that node / axios, as many in flight: the part of n8n itself',
			value: ratio('minimal', 'sideBySide').toFixed(2),
		},
		{ figure: '  ours / that node', value: ratio('ours', 'minimal').toFixed(2) },
		{ figure: '  ours / axios in a loop', value: ratio('ours', 'loop').toFixed(2) },
	];
}
