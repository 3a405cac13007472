import type { IExecuteFunctions } from 'n8n-workflow';
import { ItemParameters } from '../../../../nodes/shared/n8n/parameters/itemParameters';

/** The parameters of an item, as n8n gives them. */
export function parametersOf(values: Record<string, unknown>): ItemParameters {
	const context = {
		getNodeParameter: (name: string, _: number, fallback: unknown) => values[name] ?? fallback,
	};
	// ItemParameters uses nothing else of the context.
	return new ItemParameters(context as unknown as IExecuteFunctions, 0);
}

export const problemsOf = ({ problems }: ItemParameters) =>
	problems.map(({ field, problem }) => `${field} ${problem}`);
