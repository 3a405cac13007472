import type { IExecuteFunctions, INodeExecutionData, ISupplyDataFunctions } from 'n8n-workflow';
import { isObject, valueAt, type JsonObject } from '../../gateway/json';
import type { Problem } from '../errors/badInput';

/** Name of the option that sends a request without checking it against the rules of the service. */
export const skipChecks = 'skipChecks';

/** Where fields are read: among the parameters of the node itself, in its "Options", or in an entry of a list. */
export interface Scope {
	/** The item that all of them belong to. */
	readonly parameters: ItemParameters;
	/**
	 * The value at a dotted path, which an expression can make anything; undefined or empty when it is not given.
	 * @throws n8n's own error for an expression that cannot be evaluated
	 */
	value(path: string): unknown;
	/**
	 * @param field its label in the editor
	 * @param problem continues the label: "must be …"
	 * @param kind "Skip Checks" skips a `rule` of the service; `unsendable` is what cannot be sent at all
	 */
	report(field: string, problem: string, kind?: ProblemKind): void;
}

export type ProblemKind = 'rule' | 'unsendable';

/** The parameters of one item. What is wrong with them is collected, and reported all at once. */
export class ItemParameters implements Scope {
	readonly parameters = this;
	readonly problems: Problem[] = [];
	/** Look into the files that were read, and report; to be run before the problems are counted. */
	readonly checks: Array<() => Promise<void>> = [];
	/** Remarks beside the node's output, for an item that is sent. */
	readonly hints: string[] = [];
	/** Set for an item that asks for nothing: it is the output as it is. */
	passThrough?: Pick<INodeExecutionData, 'json' | 'binary'>;
	private knownOptions?: Scope;

	constructor(
		readonly context: IExecuteFunctions | ISupplyDataFunctions,
		readonly item: number,
		/** The base URL of the gateway that the links of the item are sent to. */
		readonly gatewayUrl = '',
	) {}

	/**
	 * What the user added under "Options". n8n evaluates all of them at once, when they are first read: what an item
	 * reports before that, such as its job, is known when one of their expressions fails.
	 */
	get options(): Scope {
		if (this.knownOptions === undefined) {
			const options = this.value('options');
			this.knownOptions = scopeIn(this, isObject(options) ? nullWhereEmpty(options) : {});
		}
		return this.knownOptions;
	}

	value(path: string): unknown {
		return this.context.getNodeParameter(path, this.item, '');
	}

	report(field: string, problem: string, kind: ProblemKind = 'rule'): void {
		if (kind === 'rule' && this.skipsRules) return;
		this.problems.push({ field, problem });
	}

	/** Whether the user wants the request sent as it is. */
	get skipsRules(): boolean {
		return String(this.options.value(skipChecks)) === 'true';
	}
}

/** An option whose expression gives nothing is null, and one that was not added undefined. */
const nullWhereEmpty = (options: JsonObject): JsonObject =>
	Object.fromEntries(Object.entries(options).map(([name, value]) => [name, value ?? null]));

/** The scope of fields that one value holds. @param label of that value, put before their own */
export function scopeIn(parent: Scope, values: JsonObject, label = ''): Scope {
	return {
		parameters: parent.parameters,
		value: (path) => valueAt(values, path),
		report(field, problem, kind) {
			parent.report([label, field].filter((part) => part !== '').join(': '), problem, kind);
		},
	};
}
