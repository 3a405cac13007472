import type { IDataObject } from 'n8n-workflow';
import { withGateway } from '../../support/http/withGateway';
import { byId, chain, createReferenceVideo, type Node } from '../../support/workflows/workflows';

const megabyte = 1_000_000;
const media = [{ type: 'reference_image', url: 'https://firm.example/person.png' }];

describe('very large values', () => {
	const { gateway, runWorkflow } = withGateway({ jobSeconds: Infinity });

	const run = async (node: Node, ...items: IDataObject[]) => {
		const result = await runWorkflow(chain(node), { input: items.map((json) => ({ json })) });
		const error = result.errorOf(node.name);
		return { result, error, requests: gateway.requests };
	};
	const alpha = createReferenceVideo({ model: byId('alpha-1.1-r2v'), options: {} });
	const lengthOf = (error: object | undefined) => JSON.stringify(error ?? '').length;

	it.each<[string, IDataObject]>([
		['valid entries', { media: Array(10_000).fill(media[0]) }],
		['invalid entries', { media: Array(10_000).fill({ url: 'cat.png' }) }],
		['JSON text', { media: JSON.stringify(Array(10_000).fill({ url: 'x'.repeat(50) })) }],
	])('refuses 10,000 media with one short message: %s', async (name, json) => {
		const { error, requests } = await run(createReferenceVideo(), json);
		expect(requests).toEqual([]);
		expect(error?.message).toMatch(/^Media/);
		if (name === 'invalid entries') {
			expect(error?.message).toMatch(/^Media 1: .*; Media 10: URL must .*; and \d{5} more$/);
		}
		expect(error?.message.length).toBeLessThan(1500);
		expect(lengthOf(error)).toBeLessThan(20_000);
	});

	it('reports the problems of 1,000 items in one short message', async () => {
		const items = Array.from({ length: 1000 }, () => ({ media: Array(50).fill({ type: 'x' }) }));
		const { error, requests } = await run(createReferenceVideo(), ...items);
		expect(requests).toEqual([]);
		expect(error?.message.length).toBeLessThan(1000);
		expect(error?.description?.length).toBeLessThan(5000);
		expect(lengthOf(error)).toBeLessThan(20_000);
	});

	it('sends a prompt of a megabyte intact to a model without a limit', async () => {
		const prompt = `${'Ein Männlein 🎬 '.repeat(megabyte / 16)}end`;
		const { result, requests } = await run(alpha, { media, prompt });
		expect(result.status).toBe('success');
		expect((requests[0].body as { input: { prompt: string } }).input.prompt).toBe(prompt);
	});

	it('shortens the message of a refusal of four megabytes, and keeps one megabyte of its body', async () => {
		const long = 'x'.repeat(megabyte);
		const error = { message: long, code: long, type: long, param: long };
		const body = JSON.stringify({ error, request_id: long });
		gateway.fault({ route: 'referenceVideoCreate', action: 'answer', status: 400, body });
		const { error: shown } = await run(alpha, { media });
		expect(shown?.message.length).toBeLessThan(1000);
		expect(shown?.description?.length).toBeLessThan(2000);
		const { raw_body } =
			(shown as { context?: { data?: { raw_body?: string } } }).context?.data ?? {};
		expect(raw_body).toBe(
			`${body.slice(0, megabyte)}… (cut: the first 1000000 of ${body.length} characters)`,
		);
	});
});
