import { langchain } from '../../test/support/workflows/workflows';
import { byId, modelGateway } from '../../test/support/workflows/workflows';
import { fromTexts } from './measure';
import { credentialsFor, httpRequest, post, result } from './nodes';
import { atLeast, atMost } from '../report';
import { inTurns, ratio, requireOneEach } from './rounds';
import { chatMilliseconds } from './service';
import type { Work } from './work';

/** Many chats in one node. */
export const chats: Work = async ({ rounds, isSmall, ...setup }) => {
	const count = isSmall ? 20 : 50;
	const { url } = setup.service.gateways.chats;
	const { ours, openAi, header } = await credentialsFor(setup, 'chats');
	const message = { content: '={{ $json.text }}', role: 'user' };
	const chat = (options: { parallelRequests?: number } = {}) =>
		modelGateway(
			{
				resource: 'chat',
				operation: 'complete',
				model: byId('chat-1'),
				messages: { values: [message] },
				options,
			},
			ours,
		);
	const theirs = {
		resource: 'text',
		operation: 'message',
		modelId: byId('chat-1'),
		messages: { values: [message] },
	};
	const body =
		'={{ JSON.stringify({ model: "chat-1", messages: [{ role: "user", content: $json.text }] }) }}';
	const names = {
		atOnce: `Model Gateway, Parallel Requests ${count}`,
		standard: 'Model Gateway, default (10 at a time)',
		openAi: 'OpenAI node',
		http: 'HTTP Request node',
	};
	const gateway = 'chats' as const;
	const ways = [
		{
			name: names.atOnce,
			gateway,
			workflow: fromTexts([chat({ parallelRequests: count }), result]),
		},
		{ name: names.standard, gateway, workflow: fromTexts([chat(), result]) },
		{
			name: names.http,
			gateway,
			workflow: fromTexts([
				httpRequest('HTTP Request', post(`${url}/v1/chat/completions`, body), header),
				result,
			]),
		},
		{
			name: names.openAi,
			gateway,
			workflow: fromTexts([
				{ ...langchain('OpenAI', 'openAi', theirs, 1.8), credentials: { openAiApi: openAi } },
				result,
			]),
		},
	];
	const texts = Array.from({ length: count }, (_, index) => `Tell me about the number ${index}`);
	const rows = await inTurns(setup, ways, { texts, rounds, warmUp: 3, check: requireOneEach });
	const [atOnce, , http, openAiRow] = rows;
	return {
		title: `${count} chats, ${chatMilliseconds} ms each`,
		about: [
			`${count} items reach one node, which sends one chat for each item. The server responds after ${chatMilliseconds} ms. The OpenAI node has version 1.8, the last one that uses chat completions; the server is the base URL of its credential. The HTTP Request node has a header credential and a JSON body. It does not use batching, which is its default.`,
			`The OpenAI node sends one item after another, and has no setting to change that. The HTTP Request node sends all items at once. Model Gateway sends as many at once as **Parallel Requests** allows: ${count} in the first row, for a fair comparison with the HTTP Request node, and 10 in the second row, which is the default.`,
		],
		tables: [{ title: 'Time', rows, bars: 'seconds' }],
		goals: [
			atLeast(`${count} chats: time of the OpenAI node / ours`, ratio(openAiRow, atOnce), 25, {
				unit: 'times',
				digits: 1,
			}),
			atMost(`${count} chats: our time / HTTP Request node`, ratio(atOnce, http), 1, { digits: 2 }),
		],
	};
};
