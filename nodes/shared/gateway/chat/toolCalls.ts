import { asIndex, asText, isObject, parseJson, type JsonObject } from '../json';
import { addedBy, isEmpty, mergeInto, type KeptParts } from './fragments';

/** A tool call of which some fragments have arrived. */
interface ToolCall {
	/** As the service sends them, without the index. */
	fields: JsonObject;
	id?: string;
	/** Where it stands among the calls. */
	index: number;
	/** Whether the service gave the index. */
	hasIndex: boolean;
	/** Whether its arguments end like an object. */
	endsObject: boolean;
}

/** A fragment of a tool call, with what tells to which call it belongs. */
interface Fragment {
	fields: JsonObject;
	id?: string;
	index?: number;
	name?: string;
	input: unknown;
}

/**
 * The tool calls of one answer. Each call arrives in fragments. It is known by its ID, then by its index; services omit
 * both, give the same index to several calls, and repeat an ID or a name as an empty text.
 */
export class StreamedToolCalls {
	private readonly calls: ToolCall[] = [];
	private readonly byId = new Map<string, ToolCall>();
	/** The latest call of each index. */
	private readonly byIndex = new Map<number, ToolCall>();
	private latest?: ToolCall;

	constructor(private readonly kept: KeptParts) {}

	/** @param isWhole whether these are the calls of a message, which may repeat what came before */
	add(fragments: unknown, isWhole: boolean): void {
		const list = Array.isArray(fragments) ? fragments.filter(isObject) : [];
		for (const [position, { index, ...fields }] of list.entries()) {
			const { name, arguments: input } = isObject(fields.function) ? fields.function : {};
			const fragment = {
				...{ fields, input, id: asText(fields.id), name: asText(name) },
				index: asIndex(index) ?? (isWhole ? position : undefined),
			};
			this.merge(this.callOf(fragment, isWhole), fragment, isWhole);
		}
	}

	/** All calls in the order of their indexes; undefined when there are none. */
	list(): JsonObject[] | undefined {
		if (this.calls.length === 0) return undefined;
		return this.calls.sort((a, b) => a.index - b.index).map(({ fields }) => fields);
	}

	private callOf(fragment: Fragment, isWhole: boolean): ToolCall {
		const { id, index } = fragment;
		const known = id === undefined ? undefined : this.byId.get(id);
		// A whole message repeats the calls, by their places.
		const isElsewhere = !isWhole && index !== undefined && known?.hasIndex && known.index !== index;
		if (known && !isElsewhere) return known;
		const call = index === undefined ? this.latest : this.callAt(index, fragment);
		return call === undefined || beginsOther(call, fragment, isWhole) ? this.newCall(index) : call;
	}

	/** The latest call of this index. Before its first fragment with an index, a call has none. */
	private callAt(index: number, { id, name }: Fragment): ToolCall | undefined {
		const { latest } = this;
		const isContinued = id === undefined && name === undefined && latest?.hasIndex === false;
		return this.byIndex.get(index) ?? (isContinued ? latest : undefined);
	}

	private newCall(index: number | undefined): ToolCall {
		const call = {
			...{ fields: {}, index: index ?? this.calls.length, endsObject: false },
			hasIndex: index !== undefined,
		};
		this.calls.push(call);
		this.kept.add();
		return call;
	}

	private merge(call: ToolCall, { fields, id, index, input }: Fragment, isWhole: boolean): void {
		this.latest = call;
		if (index !== undefined) this.byIndex.set(index, call);
		if (id !== undefined) this.byId.set(id, call);
		call.id = id ?? call.id;
		const end = typeof input === 'string' ? input.trimEnd() : input;
		if (!isEmpty(end)) call.endsObject = isObject(end) || String(end).endsWith('}');
		const { function: given, ...others } = fields;
		mergeInto(call.fields, others);
		if (isObject(given))
			call.fields.function = mergedFunction(call.fields.function, given, isWhole);
	}
}

/** Whether a fragment begins a call of its own, although its place is that of this call. */
function beginsOther(call: ToolCall, { id, name, input }: Fragment, isWhole: boolean): boolean {
	const calledName = isObject(call.fields.function) ? asText(call.fields.function.name) : undefined;
	const isNamed = name !== undefined && calledName !== undefined;
	if (isNamed && name !== calledName) return true;
	const startsObject = isObject(input) || (typeof input === 'string' && /^\s*\{/.test(input));
	// Some services invent an ID for each fragment, but no call begins in the middle of its arguments.
	if (id !== undefined && call.id !== undefined) return startsObject || isEmpty(input);
	return isNamed && !isWhole && call.endsObject && startsObject;
}

/**
 * The name and arguments of a call, with those of a fragment: texts of arguments are appended.
 * @param before changed in place, so that many fragments take linear time
 * @param isWhole whether the fragment may repeat what came before
 */
export function mergedFunction(
	before: unknown,
	fragment: JsonObject,
	isWhole: boolean,
): JsonObject {
	const { arguments: input, ...others } = fragment;
	const merged = mergeInto(isObject(before) ? before : {}, others);
	if (Object.hasOwn(fragment, 'arguments'))
		merged.arguments = mergedArguments(merged.arguments, input, isWhole);
	return merged;
}

function mergedArguments(before: unknown, input: unknown, isWhole: boolean): unknown {
	if (isEmpty(input)) return before ?? input;
	if (isObject(before) && isObject(input)) return mergeInto(before, input);
	if (typeof before !== 'string' || typeof input !== 'string')
		return isObject(input) ? mergeInto({}, input) : input;
	// Nothing can follow a complete object, so the same object is a repetition.
	if (before === input && isObject(parseJson(input))) return before;
	return before + (isWhole ? addedBy(input, before, true) : input);
}
