import { Renderer } from '../../../../gateway/rendering';
import { readMp4 } from '../../../support/files/mp4';
import { picture } from '../../../support/data/samples';

const renderer = new Renderer({ workers: 1 });
afterAll(async () => await renderer.close());

describe('rendered videos', () => {
	it('renders an H.264 mp4 with every frame, which plays while it loads', async () => {
		const size = { width: 320, height: 180 };
		const bytes = await renderer.render({
			...{ ...size, seconds: 2, caption: 'A lighthouse', watermark: true },
			media: (['reference_image', 'reference_video', 'first_frame'] as const).map((type) => ({
				...{ type, bytes: picture('red') },
			})),
		});
		const codec = expect.stringMatching(/^avc1\./);
		expect(await readMp4(bytes)).toEqual({ ...size, seconds: 2, frames: 48, codec });
		const file = Buffer.from(bytes);
		expect(file.indexOf('moov')).toBeLessThan(file.indexOf('mdat'));
	});

	it('names the image that it cannot read, and renders the next video', async () => {
		const spec = { width: 32, height: 32, seconds: 1, caption: '', watermark: false };
		const broken = { type: 'reference_image' as const, bytes: Buffer.from('<html>') };
		await expect(renderer.render({ ...spec, media: [broken] })).rejects.toThrow(
			'media[0] (reference_image): The file is no JPEG, PNG, WebP, GIF, BMP, or AVIF image.',
		);
		expect(await readMp4(await renderer.render({ ...spec, media: [] }))).toBeDefined();
	});
});
