import { fileTypeOf, wrongType } from '../../../../nodes/shared/service/files/fileType';
import { problemOf } from '../../../../nodes/shared/service/jobs/linkLooks';
import heads from '../../../fixtures/fileHeads.json';

// The first bytes of files that ffmpeg, GStreamer, ImageMagick, and the encoders of AVIF, HEIC and JPEG XL have written.
it.each(Object.entries(heads))(
	'says what a real file is, and where it can be used: %s',
	(_, { head, mimeType, usedAs }) => {
		const bytes = Buffer.from(head, 'base64');
		expect(fileTypeOf(bytes)?.mimeType).toBe(mimeType);
		const places = (['image', 'video'] as const).filter(
			(wanted) => wrongType(bytes, '', wanted) === undefined,
		);
		expect(places).toEqual(usedAs);
		const behindLinks = (['image', 'video'] as const).filter((wanted) => {
			const look = { status: 200, type: fileTypeOf(bytes) };
			return problemOf(look, { url: '', field: '', wanted }) === undefined;
		});
		expect(behindLinks).toEqual(usedAs);
	},
);
