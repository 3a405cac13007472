/** Thrown when the time that was set for something is up. */
export class TimeLimitError extends Error {
	constructor(readonly milliseconds: number) {
		super(`the time limit of ${Math.round(milliseconds / 100) / 10} s passed`);
	}
}
