import { endpoints } from '../../service/protocol/endpoints';
import { numberField, textField, textsField } from './fieldKinds';

const { fields: rules } = endpoints.chat;
const typeOptions = { numberPrecision: 2 };

export const maxTokensOption = numberField({
	displayName: 'Max Tokens',
	name: 'maxTokens',
	request: 'max_tokens',
	rule: { ...rules.max_tokens, min: 1 },
	default: 1000,
	description: 'The maximum length of the answer, in tokens',
});

export const answersOption = numberField({
	displayName: 'Number of Answers',
	name: 'n',
	request: 'n',
	rule: { ...rules.n, min: 1 },
	description: 'How many answers to create. Each becomes an item.',
});

export const userOption = textField({
	displayName: 'User',
	name: 'user',
	request: 'user',
	description: 'An ID of the end user the answer is for',
});

export const temperatureOption = numberField({
	displayName: 'Temperature',
	name: 'temperature',
	request: 'temperature',
	rule: rules.temperature,
	typeOptions,
	description: 'Lower is more predictable, higher is more creative. Reasoning models refuse it.',
});

/** Options of all chat models ("Endpoints" 4), also in the sub-node. */
export const chatOptions = [
	temperatureOption,
	maxTokensOption,
	numberField({
		displayName: 'Top P',
		name: 'topP',
		request: 'top_p',
		rule: rules.top_p,
		typeOptions,
		description:
			'Choose from the most likely words that add up to this probability. Reasoning models refuse it.',
	}),
	numberField({
		displayName: 'Frequency Penalty',
		name: 'frequencyPenalty',
		request: 'frequency_penalty',
		rule: rules.frequency_penalty,
		typeOptions,
		description: 'Above 0, the model repeats words less often. Reasoning models refuse it.',
	}),
	numberField({
		displayName: 'Presence Penalty',
		name: 'presencePenalty',
		request: 'presence_penalty',
		rule: rules.presence_penalty,
		typeOptions,
		description: 'Above 0, the model moves on to new topics sooner',
	}),
	textsField({
		displayName: 'Stop',
		name: 'stop',
		request: 'stop',
		placeholder: 'e.g. END',
		typeOptions: { multipleValueButtonText: 'Add Text' },
		description: 'The answer ends before any of these texts',
	}),
];
