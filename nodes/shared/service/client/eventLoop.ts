import type { Clock } from './clock';

/** These take about 10 milliseconds to parse and check. */
const maxCharactersPerTurn = 2_000_000;
/** Fewer do not count. */
export const minCharactersPerTurn = maxCharactersPerTurn / 100;

/** Per clock: the characters read or passed on in this turn of the event loop, its end, and whoever came last. */
const eventLoopTurns = new WeakMap<
	Clock,
	{ characters: number; end?: Promise<void>; last: Promise<void> }
>();

/** Waits while this turn of the event loop has enough to do: large responses that arrive together would block it. */
export async function waitForEventLoop(characters: number, clock: Clock): Promise<void> {
	if (characters < minCharactersPerTurn) return;
	const turn = eventLoopTurns.get(clock) ?? { characters: 0, last: Promise.resolve() };
	eventLoopTurns.set(clock, turn);
	const end = async () => {
		await nextTurn(clock);
		turn.characters = 0;
		turn.end = undefined;
	};
	turn.last = turn.last.then(async () => {
		if (turn.characters + characters > maxCharactersPerTurn) await turn.end;
		turn.characters += characters;
		turn.end ??= end();
	});
	await turn.last;
}

/** Lets other work run. */
export async function nextTurn(clock: Clock): Promise<void> {
	await clock.sleep(0);
	// The first timer may still fire in this turn.
	await clock.sleep(0);
}
