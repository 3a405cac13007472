import { registerTypes } from '../harness';
import { recordedAnswers } from '../support/answers/recordedAnswers';
import { anyJson, anyText, jsonText, nearly } from '../support/data/anyJson';
import { fc, tries } from '../support/data/fuzz';
import { withGateway } from '../support/http/withGateway';
import { expectPlain } from '../support/data/plain';
import { subjects, tryNode, user } from '../support/workflows/everyNode';

const types = ['application/json', 'text/html', 'text/event-stream', 'video/mp4'];
const answers = recordedAnswers().map(([, answer]) => answer);
const jobs = { task_id: 'task_1', id: 'video_1' };

describe('arbitrary responses of the service', () => {
	const { gateway } = withGateway({ isTimeSimulated: true });
	beforeAll(() => registerTypes({ nodes: [user] }));

	const asked = subjects.filter(([, { serves }]) => serves !== 'ai_languageModel');
	it.each(asked)(
		'turns any response into items or an error of this package: %s',
		async (_, subject) => {
			const { routes } = subject;
			const like = answers
				.filter(({ to, status, body }) => routes.includes(to) && status === 200 && body)
				.map(({ body }) => body as object);
			const bodies = fc.oneof(
				{
					weight: 4,
					arbitrary: fc
						.constantFrom(...like)
						.chain(nearly)
						.map(jsonText),
				},
				{ weight: 2, arbitrary: anyJson.map(jsonText) },
				{ weight: 1, arbitrary: anyText },
			);
			const statuses = fc.constantFrom(200, 200, 200, 200, 201, 400, 429, 500);
			const responses = fc.tuple(bodies, fc.constantFrom(...types), statuses);
			const property = fc.asyncProperty(responses, fc.boolean(), async (response, continues) => {
				const [body, type, status] = response;
				const headers = { 'content-type': type };
				const faults = routes.map((route) =>
					gateway.fault({ route, action: 'answer', status, headers, body, times: Infinity }),
				);
				const before = gateway.requests.length;
				const parameters = { ...subject.parameters, options: { timeoutMinutes: 0.5 } };
				const outcome = await tryNode(subject, { parameters, continues, gateway, json: jobs });
				for (const fault of faults) fault.remove();
				// The run ends: a wait after half a minute, everything else after a few tries.
				expect(gateway.requests.length - before).toBeLessThan(100);
				expectPlain(outcome);
				// A loop would stop at a node without output.
				expect(outcome).not.toEqual([]);
			});
			await fc.assert(property, tries(20));
		},
	);
});
