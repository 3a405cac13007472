import type { Figure } from './report';

/** Something on the command line that cannot be done. */
export class UsageError extends Error {}

export interface Option {
	/** Its type is that of the option; a number has to be above 0. */
	default: string | number | boolean;
	about: string;
}

export type Options = Record<string, Option>;

/** The type of an option, of which its default is one value. */
type Widened<Value> = Value extends number ? number : Value extends boolean ? boolean : string;

export type Values<Own extends Options> = {
	[Name in keyof Own]: Widened<Own[Name]['default']>;
};

/** What `npm run measure` can be asked for. */
export interface Measurement<Own extends Options = Options, Part extends string = string> {
	name: string;
	summary: string;
	duration: string;
	/** What has to be there first: the package as it is published, or that and a complete n8n. */
	needs?: 'build' | 'n8n';
	/** What can be chosen by `--only`. */
	parts?: Record<Part, string>;
	options?: Own;
	/** How to read the figures. */
	notes?: string[];
	/** @param only the chosen parts: all of them, unless told otherwise */
	run(values: Values<Own>, only: Part[]): Promise<Figure[]>;
}

/** Checks a measurement, whose options have types of their own. */
export const measurement = <Own extends Options, Part extends string>(
	own: Measurement<Own, Part>,
): Measurement => own as unknown as Measurement;
