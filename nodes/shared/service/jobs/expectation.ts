import { oneLine } from '../oneLine';
import { usualMinutes, type JobKind } from '../protocol/jobs';

/**
 * How many of the newest lengths are kept, how few say nothing yet, and how many of the newest give the time: few, so
 * that it follows an hour in which the service is slow (`npm run measure -- expectations`).
 */
export const lengthsThatCount = { newest: 20, least: 5, recent: 7 } as const;

/** The order of a job, as far as it is known. */
export interface JobWork {
	kind?: JobKind;
	model?: string;
	/** Length of the video. */
	seconds?: number;
}

export interface Expectation {
	/** Undefined if nothing is known, or if the job takes longer than any before. */
	secondsLeft?: number;
	isOverdue: boolean;
	/** For a user; empty if nothing is known. */
	text: string;
}

/** A job is overdue after this many times the usual time. */
const overdueAfter = 3;

/** The length of a job is kept under these names, the most exact one first. */
export function lengthNames({ kind, model, seconds }: JobWork): string[] {
	if (kind === undefined) return [];
	if (model === undefined) return [kind];
	const ofModel = `${kind} ${model}`;
	return seconds === undefined ? [ofModel] : [`${ofModel} ${seconds}`, ofModel];
}

/**
 * @param lengths of earlier jobs like this one, in seconds, the newest last
 * @param elapsed seconds since the job was created
 * @param shown writes the name of the model, such as in Markdown
 */
export function expectationOf(
	{ kind, model }: JobWork,
	lengths: readonly number[],
	elapsed: number,
	shown = oneLine,
): Expectation {
	const known = sorted(lengths.slice(-lengthsThatCount.newest));
	const recent = sorted(lengths.slice(-lengthsThatCount.recent));
	const isLearned = known.length >= lengthsThatCount.least;
	const usual = kind && usualMinutes[kind];
	const usualSeconds = isLearned ? quantile(recent, 0.5) : (usual?.max ?? Infinity) * 60;
	if (elapsed > overdueAfter * usualSeconds) return { isOverdue: true, text: overdueText };
	if (!isLearned) return { isOverdue: false, text: usualTime(kind) };
	// A job that has outlasted some of the others is like those that took longer, too.
	const longer = [recent, known]
		.map((some) => some.filter((length) => length > elapsed))
		.find((some) => some.length > 0);
	const secondsLeft = longer && quantile(longer, 0.5) - elapsed;
	const videos = kind === 'task' ? 'reference videos' : 'videos';
	const what = model === undefined ? videos : `videos of ${shown(model)}`;
	const range = timeOf(quantile(known, 0.1), quantile(known, 0.9));
	const left =
		secondsLeft === undefined ? 'Longer than usual' : `About ${timeOf(secondsLeft)} more`;
	const text = `${left} (${what} took ${range} in the last ${known.length}).`;
	return { secondsLeft, isOverdue: false, text };
}

export function usualTime(kind: JobKind | undefined): string {
	const usual = kind && usualMinutes[kind];
	return usual ? `A reference video usually takes ${usual.min} to ${usual.max} minutes.` : '';
}

const overdueText =
	'This takes more than three times as long as usual. The job goes on, and waiting costs nothing. Stop ends only the wait: the job ID collects the video later. If the timeout comes first, run this node again.';

const sorted = (numbers: readonly number[]) => [...numbers].sort((one, other) => one - other);

/** @param all at least one number, the smallest first */
function quantile(all: readonly number[], share: number): number {
	const place = share * (all.length - 1);
	const [low, high] = [all[Math.floor(place)], all[Math.ceil(place)]];
	return low + (high - low) * (place % 1);
}

/** As precise as an estimate deserves: "40 seconds", "2.5 minutes", "3 to 4 minutes". */
export function timeOf(from: number, to = from): string {
	const isShort = to < 105;
	const [low, high] = [rounded(from, isShort), rounded(to, isShort)];
	return `${low === high ? '' : `${low} to `}${high} ${isShort ? 'seconds' : 'minutes'}`;
}

/** In seconds when short, else in minutes. */
function rounded(seconds: number, isShort: boolean): number {
	if (isShort) return Math.max(10, Math.round(seconds / 10) * 10);
	const step = seconds < 570 ? 0.5 : 1;
	return Math.max(step, Math.round(seconds / 60 / step) * step);
}
