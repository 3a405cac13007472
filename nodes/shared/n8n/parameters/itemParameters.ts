import type { IExecuteFunctions, INodeExecutionData, ISupplyDataFunctions } from 'n8n-workflow';
import { isObject, valueAt, type JsonObject } from '../../service/json';
import type { Problem } from '../errors/badInput';
import { asBoolean } from './spellings';

/** Name of the option that sends a request unchecked. */
export const skipChecks = 'skipChecks';

/** Fields are read in it: the parameters of the node itself, its "Options", or an entry of a list. */
export interface Scope {
	readonly parameters: ItemParameters;
	/**
	 * The value at a dotted path, which an expression can make anything; undefined or empty when it is not set.
	 * @throws n8n's own error for an expression that cannot be evaluated
	 */
	value(path: string): unknown;
	/** The value as written in the panel: an expression begins with `=`. */
	written(path: string): unknown;
	/**
	 * @param field its label in the editor
	 * @param problem continues the label: "must be …"
	 * @param kind default: `rule`
	 */
	report(field: string, problem: string, kind?: ProblemKind): void;
}

export type ProblemKind =
	/** It breaks a rule of the service, which Skip Checks skips. */
	| 'rule'
	/** It cannot be sent at all. */
	| 'unsendable'
	/** It is sent, and the user should know. */
	| 'hint';

interface Purpose {
	/** The base URL of the gateway, which fetches the links of the item. */
	gatewayUrl?: string;
	isPaid?: boolean;
	/** Whether the item orders a video or an image. */
	isOrder?: boolean;
	/** The model to read in place of the one that the user chose. */
	otherModel?: string;
}

/** The parameters of one item. Their problems are collected, and reported all at once. */
export class ItemParameters implements Scope {
	readonly parameters = this;
	readonly problems: Problem[] = [];
	/** Checks of the item's files, which report problems. The item loop runs them after `prepare`. */
	readonly checks: Array<() => Promise<void>> = [];
	/** Shown with the node's output, if the item is sent. */
	readonly hints: string[] = [];
	/** The output of an item that needs no request. */
	passThrough?: Pick<INodeExecutionData, 'json' | 'binary'>;
	private knownOptions?: Scope;

	constructor(
		readonly context: IExecuteFunctions | ISupplyDataFunctions,
		readonly item: number,
		readonly purpose: Purpose = {},
	) {}

	/**
	 * The options that the user added. n8n evaluates all of them when they are first read: an item should report its job
	 * before, so that the error of a failed expression names it.
	 */
	get options(): Scope {
		return (this.knownOptions ??= scopeOfOptions(this, 'options'));
	}

	value(path: string): unknown {
		return this.context.getNodeParameter(path, this.item, '');
	}

	written(path: string): unknown {
		return valueAt(this.context.getNode().parameters, path);
	}

	report(field: string, problem: string, kind: ProblemKind = 'rule'): void {
		if (kind === 'hint') this.hints.push(`${field} ${problem}.`);
		else if (kind === 'unsendable' || !this.skipsRules) this.problems.push({ field, problem });
	}

	get skipsRules(): boolean {
		return asBoolean(this.options.value(skipChecks)) ?? false;
	}
}

/**
 * The scope of options that were added. One whose expression gives nothing is null: it differs from one that was not
 * added.
 * @param path of the group in the parent
 */
export function scopeOfOptions(parent: Scope, path: string): Scope {
	const options = parent.value(path);
	const added = Object.entries(isObject(options) ? options : {});
	const values = Object.fromEntries(added.map(([name, value]) => [name, value ?? null]));
	return scopeIn(parent, path, values);
}

/**
 * @param path of the value in the parent
 * @param label of the value, put before those of its fields
 */
export function scopeIn(parent: Scope, path: string, values: JsonObject, label = ''): Scope {
	return {
		parameters: parent.parameters,
		value: (name) => valueAt(values, name),
		written: (name) => parent.written(`${path}.${name}`),
		report(field, problem, kind) {
			parent.report([label, field].filter((part) => part !== '').join(': '), problem, kind);
		},
	};
}
