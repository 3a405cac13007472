import { describeValue } from '../../service/json';
import { fieldOf } from './field';
import { asKnown } from './spellings';

/** Only the user can weigh money against time. Reads as whether to send again. @param resend what sending again means */
const optionOf = (resend: string) =>
	fieldOf(
		'options',
		{
			displayName: 'If No Response Arrives',
			name: 'ifAnswerLost',
			rank: 3,
			isSetting: true,
			options: [
				{ name: 'Send Again', value: 'resend', description: resend },
				{
					name: 'Stop and Report',
					value: 'stop',
					description: 'Nothing is sent twice; the item fails with what is known',
				},
			],
			default: 'stop',
			description: 'What to do when the connection broke after the request was sent',
		},
		(value, report): boolean | undefined => {
			if (value === undefined) return undefined;
			const known = asKnown(value, ['stop', 'resend']);
			if (known !== undefined) return known === 'resend';
			// An expression that gives nothing or any other value must not decide about money.
			report(`must be stop or resend (it is ${describeValue(value)})`);
			return false;
		},
	);

export const ifNoJobOption = optionOf(
	'A call without a response is not charged, but a second job may run',
);

/** Unless it is set, an image that certainly is not charged is ordered again, and one that a proxy cut off at most once. */
export const ifNoImageOption = optionOf(
	'A call without a response is not charged, but one that a proxy has cut off may be',
);
