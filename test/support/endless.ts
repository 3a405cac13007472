import { runInNewContext } from 'node:vm';

/** Ends what would take minutes, because it takes more time than its input has length, or has no end at all. */
export function unlessEndless<Result>(work: () => Result): Result {
	return runInNewContext('work()', { work }, { timeout: 60_000 }) as Result;
}
