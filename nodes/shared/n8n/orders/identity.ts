import { createHash } from 'crypto';
import type { IBinaryData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Connection } from '../../service/client/connection';
import { idempotencyKeyOf } from '../../service/client/idempotency';
import { isObject } from '../../service/json';
import type { Cost } from '../../service/protocol/endpoints';
import { isTool } from '../agent/tool';
import type { Field } from '../parameters/field';
import type { Line } from './line';
import type { Wish } from './order';

/** A hash that is the same for equal values in every execution. Files are equal when their type and size are. */
export function hashOf(value: unknown): string {
	const plain = JSON.stringify(value);
	// A replacer takes much longer, and most requests have no file.
	const json = plain.includes('"mimeType":')
		? JSON.stringify(value, (_, part: unknown) => (isFile(part) ? factsOf(part) : part))
		: plain;
	return createHash('sha256').update(json).digest().toString('hex', 0, 16);
}

/** A node that fetches a file again gives it another ID, and perhaps another name. */
function factsOf(file: IBinaryData): unknown {
	const { id, mimeType, bytes, fileName, fileSize } = file;
	// Without an ID, the content itself is in `data`.
	if (id === undefined) return file;
	// n8n 1 gives the size only as a rounded text.
	return { mimeType, size: bytes ?? [fileName, fileSize] };
}

function isFile(value: unknown): value is IBinaryData {
	return isObject(value) && typeof value.mimeType === 'string' && typeof value.data === 'string';
}

/** Undefined for an item that contains itself, as n8n allows. */
function itemHashOf({ json, binary }: INodeExecutionData): string | undefined {
	try {
		return hashOf([json, binary]);
	} catch {
		return undefined;
	}
}

/**
 * Identifies this node in an execution and all its Retries: by the token that n8n 2 gives them in their resume links. n8n
 * 1 gives none, so there it is the ID of the execution that first stored it with its orders.
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
 * A hash of what the user entered in the fields that say what is ordered, with expressions unevaluated. It stays the same
 * when the editor stores the same in another form.
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

/** The value without empty entries, the order of names, and how the editor stores a choice. */
function plainValue(value: unknown): unknown {
	if (typeof value === 'string') {
		const isExpression = value.startsWith('=');
		const parts = isExpression ? value.split(/(\{\{|\}\})/) : [value];
		const text = parts.map((part) => part.trim()).join('');
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

/** Names what each item of a run would order. */
export class WishNames {
	private readonly parameters: string;
	/** How many equal requests, or equal sources, came before. */
	private readonly counts = new Map<string, number>();

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly journal: {
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
	 * The wish of the next item. Its ID counts equal requests instead of naming the item: a Retry that fetches the list
	 * again may find the request at another index, or in another run of a loop.
	 */
	wishOf({ index, identity, options, cost }: Line): Wish {
		const { origin, run } = this.journal;
		const { parameters } = this;
		const { key, subject } = options ?? {};
		const request = hashOf(identity);
		const count = this.journal.takeNext(request, this.counts.get(request) ?? 0);
		this.counts.set(request, count + 1);
		const id = hashOf([origin, request, count]);
		const { billing, connection } = this.to;
		const idempotencyKey = billing === 'job' ? idempotencyKeyOf(id, connection) : undefined;
		return {
			id,
			request,
			count,
			run,
			source: this.sourceOf(index, id),
			parameters,
			...(key !== undefined && { key: hashOf(key) }),
			...(idempotencyKey !== undefined && { idempotencyKey }),
			...(cost !== undefined && { cost }),
			...(subject !== undefined && { subject: hashOf(subject) }),
		};
	}

	/** See `Wish.source`. A call of a tool has the item of its agent, so only its request tells what it is. */
	private sourceOf(index: number, id: string): string {
		const { context, parameters } = this;
		if (isTool(context.getNode())) return id;
		const { run } = this.journal;
		const item = itemHashOf(context.getInputData()[index]);
		const uncounted = hashOf([parameters, item ?? run]);
		const count = this.counts.get(uncounted) ?? 0;
		this.counts.set(uncounted, count + 1);
		return hashOf([parameters, item ?? run, count]);
	}
}
