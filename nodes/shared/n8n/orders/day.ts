/** A day of a workflow, in its time zone. */
export interface Day {
	/** Such as `2026-11-24`. */
	name: string;
	/** When the next one begins, in milliseconds since 1970. */
	end: number;
}

/** Longer than any day, also one on which clocks are set back. */
const maxHours = 30;

/**
 * The day that a moment belongs to.
 * @param now milliseconds since 1970
 * @param timeZone such as `Europe/Berlin`
 */
export function dayOf(now: number, timeZone: string): Day {
	const parts = new Intl.DateTimeFormat('en', {
		...{ timeZone, year: 'numeric', month: '2-digit', day: '2-digit' },
	});
	const nameOf = (time: number) => {
		const part = Object.fromEntries(
			parts.formatToParts(time).map(({ type, value }) => [type, value]),
		);
		return `${part.year}-${part.month}-${part.day}`;
	};
	const name = nameOf(now);
	const minute = 60_000;
	let [within, after] = [Math.floor(now / minute), Math.floor(now / minute) + maxHours * 60];
	while (after - within > 1) {
		const middle = Math.floor((within + after) / 2);
		if (nameOf(middle * minute) === name) within = middle;
		else after = middle;
	}
	return { name, end: after * minute };
}
