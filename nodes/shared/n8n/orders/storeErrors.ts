import { valueAt } from '../../service/json';

/** How often a run writes what other workers overwrite. */
export const maxTries = 20;

/** The problem when that was not often enough. */
export const manyConflicts = 'Other workers wrote at the same moment, again and again';

export class StoreMissing extends Error {}

/**
 * Whether the error says that n8n has no store for the node: in a workflow that was never saved, where n8n asserts an ID
 * or its database knows no such workflow, and in an engine without a database.
 */
export function isStoreMissing(error: unknown): boolean {
	const isAsserted = valueAt(error, 'code') === 'ERR_ASSERTION';
	const isUnsaved = /foreign key/i.test(String(valueAt(error, 'message')));
	return error instanceof StoreMissing || isAsserted || isUnsaved;
}
