import type { Figure } from '../report';
import { median, spread } from '../statistics';
import { bareChats } from './bare';
import { leastChat } from './leastNode';
import { chat, httpRequestChat, runItems, type Target } from './nodes';

const items = 2000;
const parallel = 10;
const rounds = 3;
/** Times the CPU of axios alone, with as many in flight. */
const most = 2;

/** Measures the work that an item is for the process which runs the engine. */
export async function benchCpu(target: Target): Promise<Figure[]> {
	const ways = {
		ours: async () => await runItems(chat({ parallelRequests: parallel }), { target, items }),
		loop: async () => await bareChats(target, { items, parallel: 1, keepAlive: true }),
		sideBySide: async () => await bareChats(target, { items, parallel, keepAlive: true }),
		connecting: async () => await bareChats(target, { items, parallel, keepAlive: false }),
		least: async () => await runItems(leastChat(target, parallel), { target, items }),
		httpRequest: async () => await runItems(httpRequestChat(target), { target, items }),
	};
	const names = Object.keys(ways) as Array<keyof typeof ways>;
	const each: Record<keyof typeof ways, number[]> = {
		...{ ours: [], loop: [], sideBySide: [], connecting: [], least: [], httpRequest: [] },
	};
	// The first round warms up.
	for (let round = 0; round <= rounds; round++) {
		for (const name of names) {
			const used = await millisecondsOfCpu(ways[name]);
			if (round > 0) each[name].push(used / items);
		}
	}
	const ratio = (a: keyof typeof ways, b: keyof typeof ways) => median(each[a]) / median(each[b]);
	const ofAxios = ratio('ours', 'sideBySide');
	return [
		{ figure: `${items} chats: CPU of an item`, value: spread(each.ours, 'ms', 2) },
		{ figure: '  axios in a loop', value: spread(each.loop, 'ms', 2) },
		{ figure: '  axios, as many in flight', value: spread(each.sideBySide, 'ms', 2) },
		{
			figure: '  axios, as many, a connection each, as n8n does',
			value: spread(each.connecting, 'ms', 2),
		},
		{
			figure: '  a node that does nothing but send, in n8n',
			value: spread(each.least, 'ms', 2),
		},
		{ figure: '  HTTP Request node', value: spread(each.httpRequest, 'ms', 2) },
		{
			figure: '  CPU of an item: ours / axios, as many in flight',
			value: ofAxios.toFixed(2),
			goal: `at most ${most}`,
			met: ofAxios <= most,
		},
		{
			figure: '  that node / the same: what n8n itself takes',
			value: ratio('least', 'sideBySide').toFixed(2),
		},
		{ figure: '  ours / that node', value: ratio('ours', 'least').toFixed(2) },
		{ figure: '  ours / axios in a loop', value: ratio('ours', 'loop').toFixed(2) },
	];
}

async function millisecondsOfCpu(work: () => Promise<unknown>): Promise<number> {
	const before = process.cpuUsage();
	await work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}
