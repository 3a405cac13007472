/** What a preview says. */
import { joinFirst } from '../errors/badInput';
import { counted, list } from '../orders/messages';

export const keysToRelease = (keys: string[]): string =>
	`Order Key ${list(keys)} would be released, and nothing ordered`;

export const resultReused =
	'An earlier try of this execution has ordered this already: its result would be reused';

export const resentWithKey =
	'An earlier try may have been accepted. It would be sent again with the same key, by which the gateway knows it: that makes no second job';

/** The totals of all items of a preview. */
interface PreviewTotals {
	videos: number;
	/** Length of all videos together; undefined where the length of one is not known. */
	seconds?: number;
	images: number;
	/** Estimated cost of all orders that have a price; undefined without prices. */
	cost?: number;
	/** Orders without a price. */
	unpriced?: number;
	reused: number;
	skipped: number;
	/** Of each item that would fail: "item 3: …". */
	problems: string[];
	/** Whether one failed item keeps all others from being sent. */
	failsTogether: boolean;
}

export function previewSummary({
	seconds,
	cost,
	unpriced = 0,
	failsTogether,
	problems,
	...counts
}: PreviewTotals): string {
	const { videos, images, reused, skipped } = counts;
	const failing = problems.length;
	const inAll = seconds === undefined ? '' : ` (${seconds} seconds in all)`;
	const ordered = [
		videos > 0 ? `${counted(videos, 'video')}${inAll}` : '',
		images > 0 ? counted(images, 'image') : '',
	].filter((part) => part !== '');
	const others = [
		reused > 0 ? `${counted(reused, 'result')} would be reused` : '',
		skipped > 0 ? `${counted(skipped, 'item')} skipped` : '',
		failing > 0 ? `${counted(failing, 'item')} would fail` : '',
	].filter((part) => part !== '');
	const isBlocked = failing > 0 && failsTogether;
	const without =
		unpriced > 0
			? `, without ${counted(unpriced, 'order')} that ${unpriced === 1 ? 'has' : 'have'} no price`
			: '';
	const estimate =
		cost === undefined || ordered.length === 0 || isBlocked
			? []
			: [`Estimated cost: ${cost}${without}.`];
	const sentences = [
		'Preview: nothing was ordered, and nothing charged.',
		isBlocked
			? `${counted(failing, 'item')} would fail, so this node would order nothing.`
			: `${[`${ordered.join(' and ') || 'Nothing'} would be ordered`, ...others].join(', ')}.`,
		...(failing > 0
			? [`Why: ${joinFirst(problems.map((problem) => problem.replace(/\.$/, '')))}.`]
			: []),
		...estimate,
		...(ordered.length > 0 && !isBlocked ? ['To order, turn off Preview (Order Nothing).'] : []),
	];
	return sentences.join(' ');
}
