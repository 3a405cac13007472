import { asIndex, asText, isObject, valueAt, type JsonObject } from '../json';
import { addFragment, isEmpty, type KeptParts } from './fragments';

interface ToolCall {
	/** As the service sends them, without the index. */
	fields: JsonObject;
	index?: number;
	/** Whether its arguments so far end like an object. */
	endsObject: boolean;
}

const idOf = ({ id }: JsonObject) => asText(id);
const nameOf = (fields: JsonObject) => asText(valueAt(fields, 'function.name'));
const inputOf = (fields: JsonObject) => valueAt(fields, 'function.arguments');

/** In kept parts: each fragment is compared with all calls, and no answer has thousands of them. */
const partsPerCall = 100;

/**
 * The tool calls of one answer, which arrive in fragments. A call is known by its ID, else by its index; services omit
 * both, give the same index to several calls, and repeat an ID or a name as an empty text.
 */
export class StreamedToolCalls {
	private readonly calls: ToolCall[] = [];
	private latest?: ToolCall;

	constructor(private readonly kept: KeptParts) {}

	/** @param isWhole whether they are those of a whole message, which may repeat what came before */
	add(fragments: unknown, isWhole: boolean): void {
		const list = [fragments].flat().filter(isObject);
		for (const [position, { index: given, ...fields }] of list.entries()) {
			const index = asIndex(given) ?? (isWhole ? position : undefined);
			const call = this.callOf(fields, index, isWhole) ?? this.newCall(index);
			this.latest = call;
			const input = inputOf(fields);
			const end = typeof input === 'string' ? input.trimEnd() : input;
			if (!isEmpty(end)) call.endsObject = isObject(end) || String(end).endsWith('}');
			addFragment(call.fields, fields, isWhole ? 'unclear' : 'follows', this.kept);
		}
	}

	/** In the order of their indexes; undefined when there are none. */
	list(): JsonObject[] | undefined {
		const places = this.calls.map((call, position) => ({ ...call, place: call.index ?? position }));
		const ordered = places.sort((one, other) => one.place - other.place);
		return ordered.length > 0 ? ordered.map(({ fields }) => fields) : undefined;
	}

	/** The call that a fragment continues: the one with its ID, else the one with its index, else the latest. */
	private callOf(fields: JsonObject, index: number | undefined, isWhole: boolean) {
		const { calls, latest } = this;
		const id = idOf(fields);
		const hasIndex = (call: ToolCall) => call.index === index;
		const mayHaveIndex = (call: ToolCall) =>
			isWhole || index === undefined || call.index === undefined || hasIndex(call);
		const hasId = (call: ToolCall) => id !== undefined && idOf(call.fields) === id;
		const known = calls.findLast((call) => hasId(call) && mayHaveIndex(call));
		if (known) return known;
		const isAnonymous = id === undefined && nameOf(fields) === undefined;
		const placed = latest && hasIndex(latest) ? latest : calls.findLast(hasIndex);
		const call = index === undefined ? latest : (placed ?? (isAnonymous ? latest : undefined));
		return call && !beginsOther(call, fields, isWhole) ? call : undefined;
	}

	private newCall(index: number | undefined): ToolCall {
		this.kept.count += partsPerCall;
		const call = { fields: {}, index, endsObject: false };
		this.calls.push(call);
		return call;
	}
}

/** Whether a fragment begins a call of its own although its place is that of this call. */
function beginsOther(
	{ fields: before, endsObject }: ToolCall,
	fields: JsonObject,
	isWhole: boolean,
) {
	const calledName = nameOf(before);
	const name = nameOf(fields);
	const input = inputOf(fields);
	const isNamed = name !== undefined && calledName !== undefined;
	// A name may come in pieces, before anything else of its call.
	const isPiece = [fields.id, fields.type, input, inputOf(before)].every(isEmpty);
	if (isNamed && name !== calledName) return !isPiece;
	const startsObject = isObject(input) || (typeof input === 'string' && /^\s*\{/.test(input));
	// Some services invent an ID for each fragment, but no call begins in the middle of its arguments.
	if (idOf(fields) !== undefined && idOf(before) !== undefined)
		return startsObject || isEmpty(input);
	return isNamed && !isWhole && endsObject && startsObject;
}
