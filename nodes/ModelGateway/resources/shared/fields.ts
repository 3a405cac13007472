import { describeValue } from '../../../shared/service/json';
import type { Field } from '../../../shared/n8n/parameters/field';
import {
	booleanField,
	fieldOf,
	intendedText,
	withDefault,
} from '../../../shared/n8n/parameters/fieldKinds';
import { asKnown } from '../../../shared/n8n/parameters/spellings';

export const simplifyFieldOf = (description: string): Field<boolean> =>
	withDefault(
		booleanField({
			...{ displayName: 'Simplify', name: 'simplify', isSetting: true },
			...{ default: true, description },
		}),
	);

export const simplifyField = simplifyFieldOf(
	'Whether to return a simplified version of the response instead of the raw data',
);

/** The prompt of a video or an image, which must not be empty. */
export const promptField = <const Path extends string>({
	rows = 3,
	...own
}: {
	request: Path;
	placeholder: string;
	description?: string;
	hint?: string;
	rows?: number;
}): Field<string, Path> => ({
	...fieldOf(
		'string',
		{
			displayName: 'Prompt',
			name: 'prompt',
			typeOptions: { rows },
			required: true,
			...own,
		},
		(value, report) => intendedText(value, report, true),
	),
	isFilledInByModel: true,
});

/**
 * What to do when a paid request got no response: only the user can weigh money against time. Reads as whether it is sent
 * again; undefined where the user has not decided.
 * @param resend what sending again means
 */
const ifNoResponseOption = (resend: string) =>
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

export const ifNoJobOption = ifNoResponseOption(
	'A call without a response is not charged, but a second job may run',
);

/** Unless it is set, what certainly is not charged is sent again, and what a proxy cut off at most once. */
export const ifNoImageOption = ifNoResponseOption(
	'A call without a response is not charged, but one that a proxy has cut off may be',
);
