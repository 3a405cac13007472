import { videoLinkIn } from '../../../../nodes/shared/gateway/reader/job';
import { counted } from '../../../support/data/counted';

describe('the link in a response', () => {
	const base = 'https://gateway.example/v1/videos/a/content';
	const link = 'https://files.example/a.mp4';

	it('is found behind very many values that are nested more deeply', () => {
		const many = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => 'text'));
		expect(videoLinkIn({ groups: [many], data: { note: 'text', url: link } }, base)).toBe(link);
	});

	it('is looked for among a bounded number of values', () => {
		const group = () => Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, {}]));
		const groups = Object.fromEntries(
			Array.from({ length: 1_000 }, (_, index) => [`g${index}`, group()]),
		);
		const { value, seen } = counted({ status: 'in_progress', groups });
		expect(videoLinkIn(value, base)).toBeUndefined();
		expect(seen.objects).toBeLessThan(2_500);
	});
});
