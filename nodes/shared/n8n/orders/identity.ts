import { createHash } from 'crypto';
import type { IBinaryData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Connection } from '../../service/client/connection';
import { idempotencyKeyOf } from '../../service/client/idempotency';
import { isObject } from '../../service/json';
import type { Cost } from '../../service/protocol/endpoints';
import type { Field } from '../parameters/field';

/** The identity of a paid request, the same in all its tries. Equal values have equal hashes. */
export interface Order {
	/** Unique among the orders of an execution and all its Retries, whichever run of the node places it. */
	readonly id: string;
	/** Hash of the request. */
	readonly request: string;
	/** How many equal requests of the execution came before it. */
	readonly count: number;
	/** How many runs of the node came before its run. */
	readonly run: number;
	/** Index of its item in the run. */
	readonly index: number;
	/** Hash of the input item. Undefined where items do not identify orders: in a tool, and for an empty item. */
	readonly item?: string;
	/** See {@link parametersHash}. */
	readonly parameters: string;
	/** Hash of the Order Key. */
	readonly key?: string;
	/** The key by which the gateway recognises it; undefined where the gateway supports none. */
	readonly idempotencyKey?: string;
	/** Estimated cost; undefined without a price. */
	readonly cost?: number;
}

/** A hash that is the same for equal values in every execution. Files are equal when their type and size are. */
export function hashOf(value: unknown): string {
	const plain = JSON.stringify(value);
	// A replacer takes much longer, and most requests have no file.
	const json = plain.includes('"mimeType":')
		? JSON.stringify(value, (_, part: unknown) => (isFile(part) ? factsOf(part) : part))
		: plain;
	return createHash('sha256').update(json).digest().toString('hex', 0, 16);
}

/** The facts that identify a file. A node that fetches it again gives it another ID, and perhaps another name. */
function factsOf(file: IBinaryData): unknown {
	const { id, mimeType, bytes, fileName, fileSize } = file;
	// Without an ID, the content itself is in `data`.
	if (id === undefined) return file;
	// n8n 1 gives the size as a rounded text only.
	return { mimeType, size: bytes ?? [fileName, fileSize] };
}

function isFile(value: unknown): value is IBinaryData {
	return isObject(value) && typeof value.mimeType === 'string' && typeof value.data === 'string';
}

/** The hash of an item; undefined for an empty item, which identifies nothing, and for one that cannot be compared. */
export function itemHashOf({ json, binary }: INodeExecutionData): string | undefined {
	if (Object.keys(json).length === 0 && !binary) return undefined;
	try {
		return hashOf([json, binary]);
	} catch {
		// An item can contain itself in n8n.
		return undefined;
	}
}

/**
 * Identifies this node in an execution and all its Retries. n8n 2 gives all of them the same token in their resume
 * links. n8n 1 does not: there it is the ID of the execution that first stored it with its orders.
 */
export function originOf(context: IExecuteFunctions): string {
	const link = String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0));
	const [, token] = /[?&]signature=([^&#]+)/.exec(link) ?? [];
	return hashOf([
		token ?? context.getExecutionId(),
		context.getWorkflow().id,
		context.getNode().id,
	]);
}

/**
 * A hash of what the user entered in the fields that say what is ordered, with expressions unevaluated. It changes when
 * somebody edits what is ordered, but not when the editor only stores the same in another form.
 */
function parametersHash(context: IExecuteFunctions, fields: readonly Field[]): string {
	const { parameters } = context.getNode();
	const options: Record<string, unknown> = isObject(parameters.options) ? parameters.options : {};
	const entered = fields.flatMap(({ property: { name, default: standard } }) => {
		const value = plainValue(parameters[name] ?? options[name]);
		const isMeant = value !== undefined && JSON.stringify(value) !== JSON.stringify(standard);
		return isMeant ? [[name, value]] : [];
	});
	return hashOf([parameters.resource, parameters.operation, entered]);
}

/** The value without what has no meaning: empty entries, the order of names, and how the editor stores a choice. */
function plainValue(value: unknown): unknown {
	if (typeof value === 'string') {
		const isExpression = value.startsWith('=');
		const text = isExpression ? value.split(braces).map(trimmed).join('') : value.trim();
		return ['', '{}', '[]'].includes(text) ? undefined : text;
	}
	if (Array.isArray(value)) {
		const entries = value.map(plainValue);
		return entries.length > 0 ? entries : undefined;
	}
	if (!isObject(value)) return value ?? undefined;
	if (value.__rl === true) return plainValue(value.value);
	const entries = Object.entries(value)
		.map(([name, part]) => [name, plainValue(part)] as const)
		.filter(([, part]) => part !== undefined)
		.sort(([one], [other]) => (one < other ? -1 : 1));
	return entries.length > 0 ? entries : undefined;
}

const braces = /(\{\{|\}\})/;
const trimmed = (part: string) => part.trim();

/** Assigns an order to each request of a run of the node. */
export class OrderIdentifier {
	private readonly parameters: string;
	/** By the hash of a request: the count of the next equal one. */
	private readonly next = new Map<string, number>();

	constructor(
		context: IExecuteFunctions,
		private readonly execution: {
			origin: string;
			run: number;
			takeNext(request: string, from: number): number;
		},
		private readonly to: {
			billing: Cost;
			connection: Connection;
			/** Those that say what is ordered. */
			fields: readonly Field[];
		},
	) {
		this.parameters = parametersHash(context, to.fields);
	}

	/**
	 * The order of the next item. Its ID counts equal requests instead of using the index of the item: a Retry that
	 * fetches the list again may find the request at another index, or in another run of a loop.
	 */
	orderOf(
		identity: unknown,
		{ index, key, cost }: { index: number; key?: string; cost?: number },
	): Order {
		const { origin, run } = this.execution;
		const request = hashOf(identity);
		const count = this.execution.takeNext(request, this.next.get(request) ?? 0);
		this.next.set(request, count + 1);
		const id = hashOf([origin, request, count]);
		const { billing, connection } = this.to;
		const idempotencyKey = billing === 'job' ? idempotencyKeyOf(id, connection) : undefined;
		return {
			...{ id, request, count, run, index, parameters: this.parameters },
			...(key !== undefined && { key: hashOf(key) }),
			...(idempotencyKey !== undefined && { idempotencyKey }),
			...(cost !== undefined && { cost }),
		};
	}
}
