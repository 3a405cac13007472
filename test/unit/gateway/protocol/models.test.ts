import { mediaTypes, referenceVideoModels } from '../../../../nodes/shared/gateway/protocol/models';

describe('the reference video models', () => {
	it('lists the media types of the specification', () => {
		expect(mediaTypes).toEqual(['reference_image', 'reference_video', 'first_frame']);
	});

	it('gives alpha-1.1-r2v the limits of the specification', () => {
		expect(referenceVideoModels['alpha-1.1-r2v']).toEqual({
			mediaTypes: ['reference_image'],
			references: { min: 1, max: 9 },
			firstFrames: { max: 0 },
			voice: false,
			numberedMedia: false,
			parameters: {
				resolution: { type: 'string', default: '720P', values: ['720P', '1080P'] },
				duration: { type: 'integer', default: 5, min: 2, max: 15 },
				prompt_extend: { type: 'boolean', default: true },
				watermark: { type: 'boolean', default: false },
				seed: { type: 'integer', min: 0, max: 2_147_483_647 },
			},
		});
	});

	it('gives beta-2.7-r2v the limits of the specification', () => {
		expect(referenceVideoModels['beta-2.7-r2v']).toEqual({
			mediaTypes: ['reference_image', 'reference_video', 'first_frame'],
			references: { max: 5 },
			firstFrames: { max: 1 },
			prompt: { max: 5000 },
			voice: true,
			numberedMedia: true,
			parameters: {
				resolution: { type: 'string', default: '1080P', values: ['720P', '1080P'] },
				ratio: {
					type: 'string',
					default: '16:9',
					values: ['16:9', '9:16', '1:1', '4:3', '3:4'],
				},
				duration: { type: 'integer', default: 5, min: 2, max: 15 },
				prompt_extend: { type: 'boolean', default: true },
				watermark: { type: 'boolean', default: false },
			},
			maxDurationWithVideo: 10,
			ignoredWithFirstFrame: 'ratio',
		});
	});
});
