import type { IDataObject, IRunExecutionData, NodeHint } from 'n8n-workflow';
import { Workflow } from 'n8n-workflow';
import { ModelGateway } from '../../../nodes/ModelGateway/ModelGateway.node.js';
import { noInputHint } from '../../../nodes/ModelGatewayWaitForVideo/hints';
import { nodeTypes } from '../../harness';
import {
	asTool,
	chain,
	createReferenceVideo,
	createVideo,
	modelGateway,
	type Node,
	waitForVideo,
} from '../../support/workflows/workflows';

/** Evaluates the hint's condition as n8n's editor does. */
function isShown(hint: NodeHint, node: Node, input: IDataObject[] = []): unknown {
	const { nodes, connections } = chain(node);
	const workflow = new Workflow({ nodes: nodes as never, connections, active: false, nodeTypes });
	const items = input.map((json) => ({ json }));
	const source = { startTime: 0, executionTime: 0, executionIndex: 0, source: [] };
	const runData = input.length > 0 ? { Start: [{ ...source, data: { main: [items] } }] } : {};
	return workflow.expression.getParameterValue(
		hint.displayCondition as string,
		{ resultData: { runData } } as IRunExecutionData,
		...([0, 0, nodes.at(-1)?.name ?? '', items, 'manual', {}] as const),
	);
}

describe('the hint of Wait for Video about missing input', () => {
	it.each([
		['until an item arrives', waitForVideo(), [], true],
		['not once an item has arrived', waitForVideo(), [{ task_id: 'task_1' }], false],
		['not in a tool of an agent', asTool(waitForVideo()), [], false],
	])('is shown %s', (_, node, input, shown) =>
		expect(isShown(noInputHint, node, input)).toBe(shown),
	);
});

describe('the hint of Model Gateway that a run costs money', () => {
	const [hint] = new ModelGateway().description.hints ?? [];
	const image = { resource: 'image', operation: 'generate', prompt: 'A boat' };

	it.each([
		['for a video', createVideo(), true],
		['for an image', modelGateway(image), true],
		['not for a preview', modelGateway({ ...image, preview: true }), false],
		['not for a poll', modelGateway({ resource: 'video', operation: 'get', videoId: 'a' }), false],
		[
			'not for a chat, which has no preview',
			modelGateway({ resource: 'chat', operation: 'complete' }),
			false,
		],
		['not in a tool of an agent', asTool(createVideo()), false],
	])('is shown %s', (_, node, shown) => expect(isShown(hint, node)).toBe(shown));
});

describe('the hint of Model Gateway about media that the prompt names', () => {
	const [, hint] = new ModelGateway().description.hints ?? [];
	const order = (prompt: string, more: IDataObject = {}) => {
		const values = [{ type: 'reference_image', source: 'url', url: 'https://firm.example/a.png' }];
		return createReferenceVideo({ prompt, mediaInput: 'fields', media: { values }, ...more });
	};

	it.each([
		['for an image that is not there', order('Image 1 beside image 2'), true],
		['for a video that is not there', order('As in video 1'), true],
		['when an expression names it', order('={{ "image " + 2 }}'), true],
		['not for an image that is there', order('Image 1 walks'), false],
		['not for a ratio', order('Image 1 as an image 16:9'), false],
		['not for media from JSON', order('image 2', { mediaInput: 'json', mediaJson: '[]' }), false],
		['not for a video from text', createVideo({ prompt: 'image 2' }), false],
	])('is shown %s', (_, node, shown) => expect(isShown(hint, node)).toBe(shown));
});
