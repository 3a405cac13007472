import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { withGateway } from '../support/http/withGateway';
import { itemsOf, nodeFor, run, type Fields } from '../support/nodes';

const { gateway } = withGateway({});

/** Runs chats, each held until so many are under way. @returns the largest number of them, and the items in their order */
const chats = async (expected: number, options: Fields) => {
	let [underWay, most] = [0, 0];
	gateway.on('request', () => void underWay--);
	const begun = new EventEmitter();
	const seen = () => {
		most = Math.max(most, ++underWay);
		if (most === expected) begun.emit('all');
		return true;
	};
	// A moment more, in which one too many would be seen.
	const until = once(begun, 'all').then(async () => await setTimeout(30));
	gateway.fault({ route: 'chat', action: 'stall', until, times: Infinity, when: seen });
	const input = itemsOf(...Array.from({ length: 25 }, (_, item) => ({ text: `Text ${item}.` })));
	const result = await run(gateway, nodeFor('chat.complete', { options }), { input });
	return { most, texts: result.items('Node').map(({ json }) => String(json.text)) };
};

it.each([
	['ten by default', {}, 10],
	['as many as Parallel Requests says', { parallelRequests: 3 }, 3],
	['one by one', { parallelRequests: 1 }, 1],
])('has so many requests under way, and gives the items in their order: %s', async (...row) => {
	const [, options, expected] = row;
	const { most, texts } = await chats(expected, options);
	expect(most).toBe(expected);
	expect(texts).toHaveLength(25);
	texts.forEach((text, item) => expect(text).toContain(`Text ${item}.`));
});
