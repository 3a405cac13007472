/** Aborts as soon as one of the signals does. */
export function anySignal(...signals: Array<AbortSignal | undefined>): AbortSignal {
	return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}
