import type { Figure } from '../report';
import { median, spread } from '../statistics';
import { bareChats } from './bare';
import { leastChat } from './leastNode';
import { chat, httpRequestChat, runItems, type Target } from './nodes';

const items = 2000;
const parallel = 10;
const rounds = 3;
/** Times the CPU of a bare request. */
const most = 2;

/** Measures the work that an item is for the process which runs the engine. */
export async function benchCpu(target: Target): Promise<Figure[]> {
	const ways = {
		ours: async () => await runItems(chat({ parallelRequests: parallel }), { target, items }),
		bare: async () => await bareChats(target, { items, parallel, keepAlive: true }),
		connecting: async () => await bareChats(target, { items, parallel, keepAlive: false }),
		least: async () => await runItems(leastChat(target, parallel), { target, items }),
		httpRequest: async () => await runItems(httpRequestChat(target), { target, items }),
	};
	const names = Object.keys(ways) as Array<keyof typeof ways>;
	const each: Record<keyof typeof ways, number[]> = {
		ours: [],
		bare: [],
		connecting: [],
		least: [],
		httpRequest: [],
	};
	// The first round warms up.
	for (let round = 0; round <= rounds; round++) {
		for (const name of names) {
			const used = await millisecondsOfCpu(ways[name]);
			if (round > 0) each[name].push(used / items);
		}
	}
	const ratio = median(each.ours) / median(each.bare);
	return [
		{ figure: `${items} chats: CPU of an item`, value: spread(each.ours, 'ms', 2) },
		{ figure: '  axios alone', value: spread(each.bare, 'ms', 2) },
		{
			figure: '  axios alone, a connection each, as n8n does',
			value: spread(each.connecting, 'ms', 2),
		},
		{
			figure: '  a node that does nothing but send, in n8n',
			value: spread(each.least, 'ms', 2),
		},
		{ figure: '  HTTP Request node', value: spread(each.httpRequest, 'ms', 2) },
		{
			figure: '  CPU of an item: ours / axios alone',
			value: ratio.toFixed(2),
			goal: `at most ${most}`,
			met: ratio <= most,
		},
		{
			figure: '  that node / axios alone: what n8n itself takes',
			value: (median(each.least) / median(each.bare)).toFixed(2),
		},
		{
			figure: '  CPU of an item: ours / that node',
			value: (median(each.ours) / median(each.least)).toFixed(2),
		},
	];
}

async function millisecondsOfCpu(work: () => Promise<unknown>): Promise<number> {
	const before = process.cpuUsage();
	await work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}
