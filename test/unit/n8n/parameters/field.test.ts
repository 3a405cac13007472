import { bodyOf } from '../../../../nodes/shared/n8n/parameters/field';
import {
	booleanField,
	numberField,
	requiredText,
	textField,
} from '../../../../nodes/shared/n8n/parameters/fieldKinds';
import { parametersOf, problemsOf } from './parametersOf';

const prompt = requiredText({ displayName: 'Prompt', name: 'prompt', request: 'input.prompt' });
const seed = numberField({ displayName: 'Seed', name: 'seed', request: 'parameters.seed' });
const watermark = booleanField({
	...{ displayName: 'Watermark', name: 'watermark', request: 'parameters.watermark' },
	default: false,
});
const own = textField({ displayName: 'Own', name: 'own' });

describe('the body of a request', () => {
	it('puts each value that is set where its field declares it, with the declared type', () => {
		const values = { prompt: 'A boat', seed: '0', watermark: false, own: 'not sent' };
		const body: { input: { prompt: string } } & { parameters?: { seed?: number } } = bodyOf(
			parametersOf(values),
			[prompt, seed, watermark, own],
		);
		expect(body).toEqual({
			input: { prompt: 'A boat' },
			parameters: { seed: 0, watermark: false },
		});
	});

	it('leaves out optional fields that are not set, and reports an empty required one', () => {
		const parameters = parametersOf({ prompt: ' ' });
		expect(bodyOf(parameters, [prompt, seed, watermark])).toEqual({ input: { prompt: ' ' } });
		expect(problemsOf(parameters)).toEqual(['Prompt is empty']);
	});
});
