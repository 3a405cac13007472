import type { IDataObject } from 'n8n-workflow';
import { retryExecution } from '../../harness';
import { withGateway } from '../../support/http/withGateway';
import { picture, sampleVideo } from '../../support/data/samples';
import {
	answer,
	redirect,
	silence,
	startServer,
	type Reply,
} from '../../support/http/scriptedServer';
import { byId, chain, createReferenceVideo } from '../../support/workflows/workflows';

const png = Buffer.from(picture('red', 64, 48));
const page = '<!doctype html><title>Photos</title>';
const mp3 = Buffer.concat([Buffer.from('ID3\x04'), Buffer.alloc(200)]);

const { gateway, runWorkflow } = withGateway({ jobSeconds: Infinity });

type Medium = Record<'type' | 'url', string> & { reference_voice?: string };

const order = async (media: Medium[], more: IDataObject = {}) => {
	const before = gateway.ledger.length;
	const node = createReferenceVideo({
		model: byId('beta-2.7-r2v'),
		mediaJson: JSON.stringify(media),
		...more,
	});
	const result = await runWorkflow(chain(node));
	const message = result.errorOf('Create')?.message;
	const [item] = message === undefined ? result.items('Create') : [];
	return { result, message, json: item?.json, orders: gateway.ledger.length - before };
};

const hosted = async (...replies: Reply[]) => {
	const host = await startServer(...replies);
	return { host, at: (type: string): Medium => ({ type, url: `${host.url}/file` }) };
};

describe('links to reference media', () => {
	const [image, clip] = ['reference_image', 'reference_video'];

	it.each<[string, string, () => Reply | Promise<Reply>, string]>([
		[image, 'a web page', () => answer(200, page), 'leads to a web page, not to an image'],
		['first_frame', 'a missing file', () => answer(404, ''), 'leads to no file (HTTP 404)'],
		[clip, 'a file that is gone', () => answer(410, page), 'leads to no file (HTTP 410)'],
		[
			image,
			'a clip',
			async () => answer(200, await sampleVideo()),
			'leads to an mp4 video, not to an image: choose reference_video',
		],
		[
			clip,
			'a picture',
			() => answer(200, png),
			'leads to a PNG image, not to a video: choose reference_image',
		],
		[image, 'a PDF', () => answer(200, '%PDF-1.7\n'), 'leads to a PDF, not to an image'],
	])('are refused before they are paid for: %s, %s', async (type, _, replyOf, problem) => {
		const { host, at } = await hosted(await replyOf());
		const { message, orders } = await order([at(type)]);
		expect([message, orders]).toEqual([`Media 1: URL ${problem}`, 0]);
		expect(host.requests).toMatchObject([{ method: 'GET', headers: { range: 'bytes=0-16383' } }]);
		expect(host.requests[0].headers.authorization).toBeUndefined();
		const unchecked = await order([at(type)], { options: { skipChecks: true } });
		expect(unchecked.message).toBeUndefined();
	});

	it.each<[string, string, Reply]>([
		[image, 'a picture', answer(200, png)],
		[image, 'unknown bytes', answer(200, '\x01\x02\x03')],
		[image, 'nothing', answer(200, '')],
		...[401, 403, 429, 500, 503].map((status): [string, string, Reply] => [
			image,
			`HTTP ${status}`,
			answer(status, page),
		]),
		[image, 'a host that says nothing', silence],
		[image, 'a redirect to inside', redirect(302, 'http://169.254.169.254/a.png')],
		[clip, 'a GIF that moves', answer(200, 'GIF89a\x01\0\x01\0')],
	])('pass where nothing is surely wrong: %s, %s', async (type, _, reply) => {
		const { at } = await hosted(reply);
		const { message, orders } = await order([at(type)]);
		expect([message, orders]).toEqual([undefined, 1]);
	});

	it('are not looked at any more when their host has said nothing', async () => {
		const { host, at } = await hosted(silence);
		const { url } = at('reference_image');
		const node = createReferenceVideo({
			model: byId('beta-2.7-r2v'),
			mediaJson: '={{ $json.media }}',
		});
		const input = Array.from({ length: 12 }, (_, index) => ({
			json: { media: [{ type: 'reference_image', url: `${url}/${index}` }] },
		}));
		const result = await runWorkflow(chain(node), { input });
		expect(result.items('Create')).toHaveLength(12);
		// As many as are looked at side by side.
		expect(host.requests).toHaveLength(8);
	});

	it('are looked at once, and a voice for its sound', async () => {
		const { host, at } = await hosted(answer(200, png));
		const voice = await startServer(answer(200, mp3), answer(200, page));
		const media = [
			at('reference_image'),
			{ ...at('reference_image'), reference_voice: `${voice.url}/a` },
		];
		expect((await order(media)).message).toBeUndefined();
		expect(host.requests.filter(({ headers }) => headers.range)).toHaveLength(1);
		expect((await order(media)).message).toBe(
			'Media 2: Voice URL leads to a web page, not to a sound',
		);
	});

	it('say in a preview what they lead to', async () => {
		const { at } = await hosted(answer(200, png), answer(404, ''));
		const shown = { field: 'Media 1: URL', file: 'a PNG image', bytes: png.length };
		const { json, orders } = await order([at('reference_image')], { preview: true });
		expect(json).toMatchObject({ would: 'order', media: [{ ...shown, width: 64, height: 48 }] });
		const failing = await order([at('reference_image')], { preview: true });
		expect(failing.json).toMatchObject({
			would: 'fail',
			reason: 'Media 1: URL leads to no file (HTTP 404)',
		});
		expect([orders, failing.orders]).toEqual([0, 0]);
	});

	it('keep no video back that was ordered before they stopped working', async () => {
		const { at } = await hosted(answer(200, png), answer(200, png), answer(404, ''));
		const failing = {
			name: 'Fails',
			type: 'n8n-nodes-base.stopAndError',
			parameters: { errorMessage: 'x' },
		};
		const media = JSON.stringify([at('reference_image')]);
		const create = createReferenceVideo({ model: byId('beta-2.7-r2v'), mediaJson: media });
		const before = gateway.ledger.length;
		const first = await runWorkflow(chain(create, failing));
		expect(first.errorOf('Fails')).toBeDefined();
		const retried = await retryExecution(first);
		expect(retried.errorOf('Create')).toBeUndefined();
		expect(gateway.ledger.length - before).toBe(1);
	});
});
