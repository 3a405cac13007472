import { toolResult } from '../../../../nodes/shared/n8n/agent/toolResult';

describe('the result of a tool that has a file', () => {
	const url = 'https://n8n.example/file';
	const adviceOn = (mimeType: string, link?: string) =>
		toolResult({ json: {}, binary: { data: { data: '', mimeType } } }, undefined, () => link).json
			.next_step;

	it.each([
		['video/mp4', /^The video is finished. Give the user the link/],
		['image/png', /^Show it to the user as a Markdown image/],
		['audio/mpeg', /^The file is finished. Give the user the link/],
		['application/pdf', /^The file is finished. Give the user the link/],
	])('tells the model what to do with a link to %s', (mimeType, advice) => {
		expect(adviceOn(mimeType, url)).toMatch(advice);
	});

	it('tells the model what was made when n8n signs no links', () => {
		expect(adviceOn('audio/mpeg')).toMatch(/^The file was made and is kept by n8n/);
	});
});
