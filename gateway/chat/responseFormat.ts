import { Validator } from '@cfworker/json-schema';
import { excerpt, isObject, type JsonObject } from '../../nodes/shared/service/json';
import { parameterError } from '../errors';
import { readObject } from '../fields';
import { requestOf, type ChatMessage } from './messages';
import { valueFor } from './schemaValue';
import { askedSchema, topicOf } from './sense';

/** How a chat is to be answered in JSON. */
export interface JsonFormat {
	/** The answer, if the request or its prompt has a schema for it. */
	json?: string;
}

/**
 * The specification does not list `response_format`, but clients send it and rely on it. It has the form of the wire
 * format.
 *
 * @returns undefined for an answer in plain text
 */
export function readResponseFormat(
	value: unknown,
	messages: ChatMessage[],
): JsonFormat | undefined {
	const param = 'response_format';
	const { type, json_schema: named } = readObject(value ?? {}, param);
	if (type !== 'json_schema') {
		const asked = askedSchema(messages);
		if (asked) return { json: jsonFor(asked, messages) };
		return type === 'json_object' ? {} : undefined;
	}

	const schema = isObject(named) ? named.schema : undefined;
	if (!isObject(schema)) throw parameterError(param, 'needs an object as json_schema.schema');
	try {
		return { json: jsonFor(schema, messages) };
	} catch (error) {
		const reason = excerpt((error as Error).message);
		throw parameterError(param, `needs a schema for which a value can be made: ${reason}`);
	}
}

/** @throws Error when the schema is invalid, cannot be satisfied, or restricts a value in ways that are not followed */
function jsonFor(schema: JsonObject, messages: ChatMessage[]): string {
	const value = valueFor(schema, { topic: topicOf(messages), request: requestOf(messages).text });
	if (value === undefined) throw new Error('no finite value satisfies it');
	const { errors } = new Validator(schema, '2020-12').validate(value);
	// The last error is about the innermost value.
	const problem = errors.at(-1);
	if (problem) throw new Error(`${problem.error} (at ${problem.instanceLocation})`);
	return JSON.stringify(value);
}
