import { runInNewContext } from 'node:vm';

/** Runs synchronous work, and stops it after a minute: by then it is endless, or far too slow for its input. */
export function unlessEndless<Result>(work: () => Result): Result {
	return runInNewContext('work()', { work }, { timeout: 60_000 }) as Result;
}
