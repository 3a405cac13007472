import { endpoints } from '../../service/protocol/endpoints';
import { numberField, textField, textsField } from './fieldKinds';

const { fields: rules } = endpoints.chat;
const typeOptions = { numberPrecision: 2 };

export const maxTokensOption = numberField('maxTokens', 'Max Tokens', {
	request: 'max_tokens',
	rule: { ...rules.max_tokens, min: 1 },
	default: 1000,
	description: 'The maximum length of the answer, in tokens',
});

export const answersOption = numberField('n', 'Number of Answers', {
	request: 'n',
	rule: { ...rules.n, min: 1 },
	description: 'How many answers to create. Each becomes an item.',
});

export const userOption = textField('user', 'User', {
	request: 'user',
	description: 'An ID of the end user the answer is for',
});

export const temperatureOption = numberField('temperature', 'Temperature', {
	request: 'temperature',
	rule: rules.temperature,
	typeOptions,
	description: 'Lower is more predictable, higher is more creative. Reasoning models refuse it.',
});

/** Options of all chat models ("Endpoints" 4), also in the sub-node. */
export const chatOptions = [
	temperatureOption,
	maxTokensOption,
	numberField('topP', 'Top P', {
		request: 'top_p',
		rule: rules.top_p,
		typeOptions,
		description:
			'Choose from the most likely words that add up to this probability. Reasoning models refuse it.',
	}),
	numberField('frequencyPenalty', 'Frequency Penalty', {
		request: 'frequency_penalty',
		rule: rules.frequency_penalty,
		typeOptions,
		description: 'Above 0, the model repeats words less often. Reasoning models refuse it.',
	}),
	numberField('presencePenalty', 'Presence Penalty', {
		request: 'presence_penalty',
		rule: rules.presence_penalty,
		typeOptions,
		description: 'Above 0, the model moves on to new topics sooner',
	}),
	textsField('stop', 'Stop', {
		request: 'stop',
		placeholder: 'e.g. END',
		typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Text' },
		description: 'The answer ends before any of these texts',
	}),
];
