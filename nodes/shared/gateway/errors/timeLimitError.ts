/** Thrown when a time limit has passed. */
export class TimeLimitError extends Error {
	constructor(readonly milliseconds: number) {
		super(`the time limit of ${Math.round(milliseconds / 100) / 10} s passed`);
	}
}
