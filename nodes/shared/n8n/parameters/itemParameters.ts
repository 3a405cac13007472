import type { IExecuteFunctions, INodeExecutionData, ISupplyDataFunctions } from 'n8n-workflow';
import { isObject, valueAt, type JsonObject } from '../../service/json';
import type { Problem } from '../errors/badInput';
import { asBoolean } from './spellings';

/** Name of the option that sends a request without checking it against the rules of the service. */
export const skipChecks = 'skipChecks';

/** Fields are read in it: the parameters of the node itself, its "Options", or an entry of a list. */
export interface Scope {
	/** The parameters of the item. */
	readonly parameters: ItemParameters;
	/**
	 * The value at a dotted path; undefined or empty when it is not set. An expression can make it anything.
	 * @throws n8n's own error for an expression that cannot be evaluated
	 */
	value(path: string): unknown;
	/** The same as it is written in the panel: an expression begins with `=`. */
	written(path: string): unknown;
	/**
	 * @param field its label in the editor
	 * @param problem continues the label: "must be …"
	 * @param kind `rule`: a rule of the service, which Skip Checks skips; `unsendable`: the value cannot be sent at all;
	 * `hint`: it is sent, and the user should know
	 */
	report(field: string, problem: string, kind?: ProblemKind): void;
}

export type ProblemKind = 'rule' | 'unsendable' | 'hint';

/** The purpose for which the parameters of an item are read. */
interface Purpose {
	/** The base URL of the gateway, which fetches the links of the item. */
	gatewayUrl?: string;
	/** Whether the request costs money. */
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
	/** Checks of the item's files, which report problems. The item loop runs them before it looks at the problems. */
	readonly checks: Array<() => Promise<void>> = [];
	/** Hints to show with the node's output, if the item is sent. */
	readonly hints: string[] = [];
	/** Set for an item that needs no request: this is its output. */
	passThrough?: Pick<INodeExecutionData, 'json' | 'binary'>;
	private knownOptions?: Scope;

	constructor(
		readonly context: IExecuteFunctions | ISupplyDataFunctions,
		readonly item: number,
		readonly purpose: Purpose = {},
	) {}

	/**
	 * The options that the user added. n8n evaluates all of them when they are first read. So an item should report
	 * its job before that: the error of a failed expression then names the job.
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

	/** Whether the user wants the request sent without checks. */
	get skipsRules(): boolean {
		return asBoolean(this.options.value(skipChecks)) ?? false;
	}
}

/**
 * The scope of options that were added. One whose expression gives nothing is null, so that it differs from one that was
 * not added.
 * @param path of the group among the values of the parent
 */
export function scopeOfOptions(parent: Scope, path: string): Scope {
	const options = parent.value(path);
	const added = Object.entries(isObject(options) ? options : {});
	const values = Object.fromEntries(added.map(([name, value]) => [name, value ?? null]));
	return scopeIn(parent, path, values);
}

/**
 * The scope of the fields in one value.
 * @param path of that value among those of the parent
 * @param label of that value, which is put before those of its fields
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
