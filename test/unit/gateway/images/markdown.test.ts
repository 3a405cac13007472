import { markdownAddresses } from '../../../../nodes/shared/gateway/images/markdown';
import { fc } from '../../../support/data/fuzz';

const link = 'https://pictures.example/a_(1).png?sig=a%2Fb+c==&x=(y(z))';

const markdownImages = (text: string) =>
	markdownAddresses(text).images.map(({ address }) => address);

describe('images in markdown', () => {
	it.each<[string, string, string[]]>([
		['alone', `![a](${link})`, [link]],
		['with a title', `![a](${link} "A (title)")`, [link]],
		['that are links', `[![a](${link})](https://page.example)`, [link]],
		['on several lines', `![a\nb](${link}\n"title")`, [link]],
		[
			'when there are several',
			`1: ![a](https://a.example/1), 2: ![b](${link})`,
			['https://a.example/1', link],
		],
		['after an open one', `![a](https://a.example/1 ![b](${link})`, ['https://a.example/1', link]],
		['with a space', '![a](https://a.example/my cat.png)', ['https://a.example/my cat.png']],
		[
			'with several spaces and brackets in its link',
			'![a](https://a.example/my cat (1).png "A (title)")',
			['https://a.example/my cat (1).png'],
		],
		['with a bare title', '![a](https://a.example/1.png A cat)', ['https://a.example/1.png']],
		[
			'by reference',
			`![a][1] and ![b][Two]\n\n[1]: ${link}\n  [two]: <https://a.example/2> "title"\n`,
			[link, 'https://a.example/2'],
		],
		['by reference, with its text as the name', `[The  cat]: ${link}\n![the cat][]`, [link]],
		[
			'between references in their order',
			`![a][1] ![b](https://a.example/2) ![c][3]\n\n[3]: https://a.example/3\n[1]: ${link}`,
			[link, 'https://a.example/2', 'https://a.example/3'],
		],
		['no references of links or without a link', `[a][1] ![b][2]\n\n[1]: ${link}`, []],
	])('finds images in Markdown: %s', (_, text, addresses) => {
		expect(markdownImages(text)).toEqual(addresses);
	});

	it.each([
		'![Picture [1]](URL)',
		'![[a](https://page.example)](URL)',
		'![a \\] b](URL)',
		'![a]( URL )',
		'![a](\n  URL\n)',
	])('finds an image in the Markdown form %j', (text) => {
		expect(markdownImages(text.replace('URL', link))).toEqual([link]);
	});

	it('finds all Markdown images inside any text, in their order', () => {
		const piece = fc.string({
			unit: fc.constantFrom(...'aZ09-._~:/?#@!$&\'*+,;=%"'),
			minLength: 1,
		});
		const { path } = fc.letrec<{ path: string }>((tie) => ({
			path: fc.oneof(
				{ maxDepth: 3 },
				piece,
				fc.tuple(piece, tie('path'), piece).map(([a, b, c]) => `${a}(${b})${c}`),
			),
		}));
		const texts = fc.oneof(
			fc.string({ unit: 'grapheme' }),
			fc.string({ unit: fc.constantFrom('!', '[', ']', '(', ')', '<', '>', ' ', 'a', '![](') }),
		);
		const name = fc.string({ unit: fc.constantFrom('a', ' ', '!', '(', ')', '"', '<', '\n', 'ü') });
		const forms = fc.constantFrom(
			(url: string) => url,
			(url: string) => `<${url}>`,
			(url: string) => `${url} "title"`,
			(url: string) => `<${url}> (title)`,
		);
		const images = fc.tuple(texts, name, path, forms).map(([before, alt, rest, form]) => {
			const url = `https://a.example/${rest}`;
			return { url, text: `${before}![${alt}](${form(url)})` };
		});
		fc.assert(
			fc.property(fc.array(images, { maxLength: 3 }), texts, (found, after) => {
				const text = `${found.map((image) => image.text).join('')}${after}`;
				const urls = found.map(({ url }) => url);
				const addresses = markdownImages(text);
				expect(addresses).toEqual(expect.arrayContaining(urls));
				expect(addresses.filter((address) => urls.includes(address))).toEqual(urls);
			}),
			{ numRuns: 500 },
		);
	});
});
