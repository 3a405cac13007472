import { choiceField } from '../../../shared/n8n/parameters/fieldKinds';
import type { Scope } from '../../../shared/n8n/parameters/itemParameters';

/** What happens to a create whose answer never came: only the user can weigh money against time. */
export const ifAnswerLostOption = choiceField({
	displayName: 'If the Answer Is Lost',
	name: 'ifAnswerLost',
	options: [
		{
			name: 'Send Again',
			value: 'resend',
			description: 'A call without an answer is not billed, but a second job may run',
		},
		{
			name: 'Stop and Report',
			value: 'stop',
			description: 'Nothing is sent twice; the item fails with what is known',
		},
	],
	default: 'stop',
	description:
		'What to do when the request was sent and the connection broke before the answer came',
});

export const isResentIfLost = (options: Scope): boolean =>
	ifAnswerLostOption.read(options) === 'resend';
