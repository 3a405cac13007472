import type { Figure } from '../bench/report';
import type { MemoryWatch } from './memory';
import type { Books } from './service';
import type { Tally } from './tally';

/** Of the memory in use, in megabytes, over the last three quarters of the time. */
const mostHeapGrowth = 8;
const mostRssGrowth = 48;

interface Soaked {
	tally: Tally;
	memory: MemoryWatch;
	books: Books;
	/** Files in n8n's store, from which all that was delivered has been deleted. */
	files: string[];
	/** Names of the resources that are still open. */
	left: string[];
}

/** What was promised, and what came of it. */
export function figuresOf({ tally, memory, books, files, left }: Soaked): Figure[] {
	const audit = tally.audit(books);
	const { no, unknown, yes } = tally.refused;
	return [
		{ figure: 'requests, and how many met a fault', value: `${books.requests}, ${books.faults}` },
		{ figure: 'videos ordered', value: `${tally.orders}` },
		{ figure: 'creates refused, surely not billed', value: `${no}` },
		{ figure: 'creates whose answer was lost', value: `${unknown + yes}` },
		{ figure: 'waits begun again by the job id', value: `${tally.collectedAgain}` },
		none('items charged twice', audit.chargedTwice),
		{
			figure: 'charges without a known job, all of them told',
			value: `${audit.untold}`,
			goal: `at most ${unknown + yes}`,
			met: audit.untold <= unknown + yes,
		},
		none('jobs told by the service, in no output', audit.forgotten.length),
		none('jobs in an output, not made by the service', audit.unpaid),
		{
			figure: 'videos delivered, byte for byte',
			value: `${tally.delivered}`,
			goal: `${tally.reached.size}, all known jobs`,
			met: tally.delivered === tally.reached.size,
		},
		none('videos or items lost', tally.lost.length),
		none('wrong files', tally.wrongFiles.length),
		none("files in n8n's store beside those delivered", tally.strayFiles),
		none('files in it after all have been deleted', files.length),
		growth('heap', memory.growth('heap'), mostHeapGrowth),
		growth('RSS', memory.growth('rss'), mostRssGrowth),
		{ ...none('sockets and timers left open', left.length), value: left.join(', ') || '0' },
	];
}

function none(figure: string, count: number): Figure {
	return { figure, value: `${count}`, goal: '0', met: count === 0 };
}

function growth(
	name: string,
	{ before, after }: ReturnType<MemoryWatch['growth']>,
	most: number,
): Figure {
	return {
		figure: `${name} after collection, second and last quarter`,
		value: `${before.toFixed(1)} to ${after.toFixed(1)} MB`,
		goal: `at most ${most} MB more`,
		met: after - before <= most,
	};
}
