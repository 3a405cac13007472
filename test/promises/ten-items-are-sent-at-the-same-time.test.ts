import { withGateway } from '../support/http/withGateway';
import { itemsOf, nodeFor, run, type Fields } from './answers';

const { gateway } = withGateway({});

/** Runs chats, and returns the largest number of requests under way, and the items in their order. */
const chats = async (count: number, options: Fields) => {
	let [underWay, most] = [0, 0];
	gateway.on('request', () => void underWay--);
	const seen = () => (most = Math.max(most, ++underWay)) > 0;
	gateway.fault({ route: 'chat', action: 'stall', seconds: 0.03, times: Infinity, when: seen });
	const input = itemsOf(...Array.from({ length: count }, (_, item) => ({ text: `Text ${item}.` })));
	const result = await run(gateway, nodeFor('chat.complete', { options }), { input });
	return { most, texts: result.items('Node').map(({ json }) => String(json.text)) };
};

it.each([
	['ten by default', {}, 10],
	['as many as Parallel Requests says', { parallelRequests: 3 }, 3],
	['one by one', { parallelRequests: 1 }, 1],
])('has so many requests under way, and gives the items in their order: %s', async (...row) => {
	const [, options, expected] = row;
	const { most, texts } = await chats(25, options);
	expect(most).toBe(expected);
	expect(texts).toHaveLength(25);
	texts.forEach((text, item) => expect(text).toContain(`Text ${item}.`));
});
