import { requestOf } from './messages';
import type { ChatOrder } from './order';
import { toolResults, type ScriptStep } from './script';

/** A tool that the model may call. */
export interface Tool {
	name: string;
	inputs: Input[];
}

/** A parameter of a tool. */
export interface Input {
	name: string;
	/** The fields of an object. */
	inputs?: Input[];
}

/**
 * Lets the model use tools without a script, so that an agent can be tried with it. When the user asks for a video, it
 * calls the tool that creates one, then the tool that waits for it, and answers with the link.
 */
export function videoTurn({ tools, messages }: ChatOrder): ScriptStep | undefined {
	const create = tools.find(({ name }) => /create.*video/i.test(name));
	const wait = tools.find(({ name }) => /wait.*video/i.test(name));
	if (!create || !wait) return undefined;

	const result = toolResults(messages).at(-1);
	if (result === undefined) {
		const { text } = requestOf(messages);
		return /\bvideo\b/i.test(text) ? callOf(create, text) : undefined;
	}
	const { id, url } = firstObject(result);
	if (typeof url === 'string') return `Your video is ready: [watch it](${url}).`;
	return typeof id === 'string' ? callOf(wait, id) : undefined;
}

const callOf = ({ name, inputs }: Tool, value: string): ScriptStep => ({
	calls: [{ name, arguments: filled(inputs, value) }],
});

/** Puts the value into the first input. With n8n's human review, the inputs are in an object beside another object. */
function filled([first, ...others]: Input[], value: string): object {
	if (first === undefined) return {};
	const { name, inputs } = first;
	const empty = others.filter((other) => other.inputs).map((other) => [other.name, {}]);
	return { [name]: inputs ? filled(inputs, value) : value, ...Object.fromEntries(empty) };
}

/** The first object in the result of a tool, which n8n returns as the JSON of its items. */
function firstObject(result: string): Record<string, unknown> {
	try {
		const [first] = [JSON.parse(result) as unknown].flat();
		return typeof first === 'object' && first !== null ? { ...first } : {};
	} catch {
		return {};
	}
}
