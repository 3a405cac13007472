import { imagesIn } from '../../nodes/shared/service/images/textImages';
import { fc, tries } from '../support/data/fuzz';

const parts = fc.constantFrom(
	'![',
	'[',
	']',
	'](',
	'(',
	')',
	'<',
	'>',
	'\\',
	' ',
	'\n',
	'a',
	'(data:image/png;base64,',
	'![a][1]',
	'\n[1]: ',
	'<img src=',
	'"',
	"'",
	'.',
	'data:image/png;base64,AAAA',
	'&amp;',
	'https://a.example/p.png',
	'![it](https://a.example/p.png)',
	'![](data:image/png;base64,AA)',
	`iVBORw0KGgo${'A'.repeat(60)}`,
);
const texts = fc.array(parts, { maxLength: 40 }).map((all) => all.join(''));

it('finds only addresses of images that are in the text', () => {
	const property = fc.property(texts, fc.boolean(), (text, areOthersKnown) => {
		for (const address of imagesIn(text, areOthersKnown).images) {
			expect(address).not.toBe('');
			if (!text.includes('&')) expect(text).toContain(address);
		}
	});
	fc.assert(property, tries(1000));
});
