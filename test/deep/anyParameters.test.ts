import type { IDataObject } from 'n8n-workflow';
import { textAt } from '../../nodes/shared/service/json';
import { nodeTypes, registerTypes, SimulatedTime } from '../harness';
import { anyValue, placesOf, propertiesOf, withValue } from '../support/data/anyParameter';
import { withGateway } from '../support/http/withGateway';
import { mp4Of } from '../support/files/boxes';
import { earlierJob } from '../support/workflows/earlierJobs';
import { fc, tries } from '../support/data/fuzz';
import { png, subjects, tryNode, user } from '../support/workflows/everyNode';

describe('arbitrary parameter values', () => {
	const { gateway } = withGateway({
		render: async () => mp4Of(100),
		jobSeconds: Infinity,
		linkSeconds: 1e9,
	});
	let jobs: IDataObject;

	beforeAll(() => registerTypes({ nodes: [user] }));
	beforeEach(() => {
		const [task, video] = (['task', 'video'] as const).map((kind) =>
			earlierJob(gateway, kind, mp4Of(1000)),
		);
		jobs = { task_id: task.id, id: video.id };
		// Drawing the images would take too long.
		const answer = { action: 'answer', times: Infinity } as const;
		const body = JSON.stringify({ data: [{ b64_json: png }] });
		gateway.fault({ route: 'imageGenerate', ...answer, body });
		gateway.fault({ route: 'imageEdit', ...answer, body });
		const content = `![it](data:image/png;base64,${png})`;
		gateway.fault({
			route: 'chat',
			...answer,
			body: JSON.stringify({ choices: [{ message: { content } }] }),
			when: (request) => textAt(request.body, 'model') === 'image-chat-1',
		});
	});

	it.each(subjects)(
		'gives an item, or names the parameter when it sends nothing, for any value: %s',
		async (_, subject) => {
			const type = `n8n-nodes-model-gateway.${subject.type}`;
			const { properties } = nodeTypes.getByNameAndVersion(type).description;
			const own = propertiesOf(properties, subject.parameters);
			const places = placesOf(own);
			const names = [...JSON.stringify(own).matchAll(/"displayName":"([^"]+)"/g)].map(([, n]) => n);
			const polls = subject.type === 'modelGatewayWaitForVideo';
			const counts = { items: 0, errors: 0 };
			const values = fc.array(fc.tuple(fc.constantFrom(...places), anyValue), {
				minLength: 1,
				maxLength: 2,
			});
			const property = fc.asyncProperty(values, fc.boolean(), async (set, continues) => {
				let { parameters } = subject;
				for (const [index, [{ path, isLocator, chosen }, { parameter }]] of set.entries()) {
					for (const choice of chosen)
						parameters = withValue(parameters, choice.path, choice.value);
					const code = parameter.replaceAll('$json.value', `$json.values[${index}]`);
					const value = isLocator ? { __rl: true, mode: 'id', value: code } : code;
					parameters = withValue(parameters, path, value);
				}
				const json = { ...jobs, values: set.map(([, { value }]) => value) } as IDataObject;
				const before = gateway.requests.length;
				const outcome = await tryNode(subject, { parameters, continues, gateway, json });

				const requests = gateway.requests.slice(before);
				if (!set.some(([, { mayBeNull }]) => mayBeNull)) {
					for (const { body } of requests) expect(JSON.stringify(body ?? '')).not.toContain('null');
				}
				if (Array.isArray(outcome)) {
					counts.items++;
					return;
				}
				counts.errors++;
				const { message, record } = outcome;
				// A statement that nothing was sent, and so nothing charged, has to be true.
				if (!String(record.advice).startsWith('Nothing was sent and nothing')) return;
				expect(names.filter((name) => message.includes(name))).not.toEqual([]);
				// In simulated time, a poll of an earlier case may still be under way.
				if (!polls) expect(requests).toEqual([]);
			});
			// Polls are at least three seconds apart. Nothing else waits.
			const time = polls ? new SimulatedTime() : undefined;
			await fc.assert(property, tries(100)).finally(async () => await time?.end());
			// Sub-nodes accept hardly any value.
			if (!subject.serves) expect(counts.items).toBeGreaterThan(0);
			expect(counts.errors).toBeGreaterThan(3);
		},
	);
});
