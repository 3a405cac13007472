import { fieldOf, type Field } from '../../../shared/n8n/parameters/field';
import { switchField, type Facts } from '../../../shared/n8n/parameters/fieldKinds';
import { intendedText } from '../../../shared/n8n/parameters/values';

export const simplifyFieldOf = (description: string): Field<boolean> =>
	switchField('simplify', 'Simplify', { isSetting: true, default: true, description });

export const simplifyField = simplifyFieldOf(
	'Whether to return a simplified version of the response instead of the raw data',
);

/** The prompt of a video or an image, which must not be empty. */
export const promptField = (facts: Facts): Field<string> =>
	fieldOf(
		'string',
		{
			displayName: 'Prompt',
			name: 'prompt',
			isFilledInByModel: true,
			typeOptions: { rows: 3 },
			required: true,
			...facts,
		},
		(value, report) => intendedText(value, report, true),
	);
