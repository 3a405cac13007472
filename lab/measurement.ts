import type { Figure } from './report';

/** An error in the command line. */
export class UsageError extends Error {}

export interface Option {
	/** Its type is the type of the option. A number must be above 0. */
	default: string | number | boolean;
	about: string;
}

export type Options = Record<string, Option>;

/** The type of an option, from its default. */
type Widened<Value> = Value extends number ? number : Value extends boolean ? boolean : string;

export type Values<Own extends Options> = {
	[Name in keyof Own]: Widened<Own[Name]['default']>;
};

/** One measurement of `npm run measure`. */
export interface Measurement<Own extends Options = Options, Part extends string = string> {
	name: string;
	summary: string;
	duration: string;
	/** Its needs: the built package, or also a complete n8n. */
	needs?: 'build' | 'n8n';
	/** The parts that `--only` can choose. */
	parts?: Record<Part, string>;
	options?: Own;
	/** How to read the figures. */
	notes?: string[];
	/** @param only the chosen parts; by default all of them */
	run(values: Values<Own>, only: Part[]): Promise<Figure[]>;
}

/** Checks the types of a measurement, whose options have their own types. */
export const measurement = <Own extends Options, Part extends string>(
	own: Measurement<Own, Part>,
): Measurement => own as unknown as Measurement;
