import type { Field } from '../../../shared/n8n/parameters/field';
import { booleanField, requiredText, withDefault } from '../../../shared/n8n/parameters/fieldKinds';

export const simplifyField = withDefault(
	booleanField({
		displayName: 'Simplify',
		name: 'simplify',
		default: true,
		description: 'Whether to return a simplified version of the response instead of the raw data',
	}),
);

/** What to create; must not be empty. */
export const promptField = <const Path extends string>({
	rows = 3,
	...own
}: {
	request: Path;
	placeholder: string;
	description?: string;
	hint?: string;
	rows?: number;
}): Field<string, Path> =>
	requiredText({
		displayName: 'Prompt',
		name: 'prompt',
		typeOptions: { rows },
		required: true,
		...own,
	});
