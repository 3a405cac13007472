import { labelOf } from '../../../../nodes/shared/n8n/parameters/field';
import { requiredText } from '../../../../nodes/shared/n8n/parameters/fieldKinds';
import { listField } from '../../../../nodes/shared/n8n/parameters/listField';
import { parametersOf, problemsOf } from './parametersOf';

const prompt = requiredText({ displayName: 'Prompt', name: 'prompt', request: 'input.prompt' });

describe('the entries of a list', () => {
	const url = requiredText({ displayName: 'URL', name: 'url', request: 'media[].url' });
	const media = listField({
		...{ displayName: 'Media', name: 'media', request: 'media', entry: 'Medium', fields: [url] },
	});

	it('names the number of an entry in its problem', () => {
		const parameters = parametersOf({ 'media.values': [{ url: 'https://a.example' }, {}] });
		expect(media.read(parameters).map((place) => url.read(place))).toEqual([
			'https://a.example',
			'',
		]);
		expect(problemsOf(parameters)).toEqual(['Medium 2: URL is empty']);
	});

	it('finds the label of a field by its path in the request', () => {
		expect(labelOf('media[1].url', [prompt, media])).toBe('Medium 2: URL');
		expect(labelOf('media', [prompt, media])).toBe('Media');
		expect(labelOf('input.prompt', [prompt, media])).toBe('Prompt');
		expect(labelOf('nothing.known', [prompt, media])).toBe('nothing.known');
	});
});
