import { download } from '../../../../gateway/client';
import { served } from '../served';

const at = served({ draw: async (spec) => Buffer.from(JSON.stringify(spec)) });
const draw = async (content: unknown) => {
	const messages = [{ role: 'user', content }];
	const body = { model: 'image-chat-1', messages };
	const { data } = await at.client.post('/v1/chat/completions', body);
	return data.choices[0].message.content as string;
};

describe('chat image models', () => {
	it.each([
		['a cat', 1024, 1024],
		['a cat【2:3】', 1024, 1536],
		['a cat【3:2】 ', 1536, 1024],
		['【2:3】 is what I said', 1024, 1024],
	])(
		'answers "%s" with a markdown image of %i x %i pixels, and charges one image',
		async (text, ...size) => {
			const content = await draw(text);
			const [, url] = /^Here is your picture:\n\n!\[picture\]\((http:\S+)\)\n\nTell/.exec(content)!;
			const { width, height } = JSON.parse((await download(url)).data.toString());
			expect([width, height]).toEqual(size);
			const [model, unit] = ['image-chat-1', 'image'];
			expect(at.gateway.ledger.at(-1)).toMatchObject({ kind: 'image', model, quantity: 1, unit });
		},
	);

	it('charges nothing for a response without an image', async () => {
		const charges = at.gateway.ledger.length;
		expect(await draw('[no image] please')).not.toContain('](');
		expect(at.gateway.ledger).toHaveLength(charges);
	});
});
