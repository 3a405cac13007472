import type { IDataObject, StructuredChunk } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { decodeEntities } from '../../../nodes/shared/gateway/markup';
import { runWorkflow, type WorkflowRun } from '../../harness';
import { picture } from '../../support/data/samples';
import { jpegOf, withPictures } from '../../support/files/jpegs';
import { withGateway } from '../../support/http/withGateway';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { resume } from '../../support/workflows/parkedWaits';
import {
	byId,
	chain,
	createReferenceVideo,
	createVideo,
	credentialFor,
	modelGateway,
	type Node,
	waitForVideo,
} from '../../support/workflows/workflows';

// n8n's editor renders hints, descriptions of errors and its notifications as HTML, and its chat renders Markdown.

const hostile =
	'<img src=https://evil.example/a.png><a href=https://evil.example>open</a> &lt;b&gt; ![i](https://evil.example/b.png)';
const isRendered = /<[a-z/!?]|\]\(/i;

let gateway: Gateway;
let media: IDataObject[];
withGateway(
	{ isTimeSimulated: true, jobSeconds: Infinity },
	(world) => void ({ gateway, media } = world),
);

const run = async (node: Node, json: IDataObject = {}, file?: Buffer): Promise<WorkflowRun> => {
	const data = file && {
		...{ mimeType: 'image/jpeg', fileName: hostile, data: file.toString('base64') },
	};
	return await runWorkflow(chain({ ...node, name: 'Node' }), {
		credentials: credentialFor(gateway),
		input: [{ json: { media, ...json }, ...(data && { binary: { data } }) }],
		mode: 'trigger',
	});
};

const answer = (route: 'videoCreate' | 'chat' | 'imageGenerate' | 'task', body: object) =>
	gateway.fault({ route, action: 'answer', times: Infinity, body: JSON.stringify(body) });

const keyed = (once: IDataObject, parameters: IDataObject = {}) =>
	createReferenceVideo({ options: { duration: 2, once }, ...parameters });
const image = { resource: 'image', prompt: 'A boat' };

/** A chat whose model refuses to answer. */
async function refusedBy(refusal: string): Promise<WorkflowRun> {
	const message = { role: 'assistant', content: null, refusal };
	answer('chat', { choices: [{ index: 0, message, finish_reason: 'stop' }] });
	const messages = { values: [{ role: 'user', content: 'Hello' }] };
	const chat = { resource: 'chat', operation: 'complete', model: byId('chat-1'), messages };
	return await run(modelGateway(chat));
}

/** Each way in which a text of others reaches a hint. */
const ways: Record<string, () => Promise<WorkflowRun>> = {
	'an Order Key that was used': async () => {
		await run(keyed({ orderKey: hostile }));
		return await run(keyed({ orderKey: hostile }));
	},
	'an Order Key that is released': async () =>
		await run(keyed({ orderKey: hostile, releaseOrderKey: true })),
	'a value that a preview refuses': async () =>
		await run(createReferenceVideo({ preview: true, options: { resolution: hostile } })),
	'the ID of a job that failed at once': async () => {
		answer('videoCreate', { id: hostile, status: 'failed' });
		return await run(createVideo());
	},
	'the reason why a job failed at once': async () => {
		answer('videoCreate', { id: 'a', status: 'failed', error: { message: hostile } });
		return await run(createVideo());
	},
	'the status of a job that is waited for': async () => {
		const { id } = earlierJob(gateway, 'task');
		answer('task', { task_id: id, status: hostile });
		return await resume(await run(waitForVideo(), { task_id: id }));
	},
	'the ID of a job that is waited for': async () => await run(waitForVideo(), { task_id: hostile }),
	'the refusal of a model': async () => await refusedBy(hostile),
	'an entry in place of an image': async () => {
		const b64_json = Buffer.from(picture('red')).toString('base64');
		answer('imageGenerate', { data: [{ b64_json }, { error: hostile }] });
		return await run(modelGateway({ ...image, operation: 'generate', model: byId('image-1') }));
	},
	'the name of a file': async () =>
		await run(
			modelGateway({ ...image, operation: 'edit', model: byId('image-edit-1') }),
			{},
			withPictures(jpegOf('teal'), jpegOf('orange')),
		),
};

describe('a hint', () => {
	it.each(Object.entries(ways))('shows a text of others as text: %s', async (_, happens) => {
		const hints = (await happens()).hintsOf('Node');
		const shown = hints.filter((hint) => decodeEntities(hint).includes(hostile.slice(0, 60)));
		expect(shown).toHaveLength(1);
		expect(hints.join(' ')).not.toMatch(isRendered);
	});

	it('shows a text that looks like an entity as it was written', async () => {
		const [hint] = (await refusedBy('&lt;b&gt; &#60;b&#62; &amp;')).hintsOf('Node');
		expect(hint).toBe(
			'The model refused to answer: &amp;lt;b&amp;gt; &amp;#60;b&amp;#62; &amp;amp;',
		);
	});

	it('keeps what is no markup as it was written', async () => {
		const plain = `Tom & "Jerry" it's 5 > 4: https://a.example/?a=1&b=[2] (👩‍👩‍👧 ❤️‍🔥 می‌کنم)`;
		const [hint] = (await refusedBy(plain)).hintsOf('Node');
		expect(hint).toBe(`The model refused to answer: ${plain}`);
	});
});

describe('a line in the chat', () => {
	it.each([
		['an image', '![i](https://evil.example/a.png)'],
		['a link', '[open](https://evil.example)'],
		['a bare address', 'https://evil.example or evil.example or a@evil.example'],
		['HTML', '<img src=https://evil.example/a.png>'],
		['code and emphasis', '`a` **b** *c* ~~d~~ | e $f$ &lt;'],
	])('shows the status of a job as text: %s', async (_, status) => {
		const { id } = earlierJob(gateway, 'task');
		answer('task', { task_id: id, status });
		const chunks: StructuredChunk[] = [];
		const wait = waitForVideo({ options: { timeoutMinutes: 0.5 } });
		await runWorkflow(chain(wait), {
			...{ credentials: credentialFor(gateway), input: [{ json: { task_id: id } }] },
			onChunk: (chunk) => void chunks.push(chunk),
		});
		const lines = chunks.flatMap(({ type, content }) => (type === 'item' ? (content ?? '') : []));
		expect(lines).toHaveLength(1);
		const text = lines[0].slice(`Video job ${id}: `.length).trimEnd();
		expect(text.replace(/\\(.)/g, '$1')).toBe(status);
		expect(text.replace(/\\./g, '')).not.toMatch(/[!-/:-@[-`{-~]/);
	});
});
