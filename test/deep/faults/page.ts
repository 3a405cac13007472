import type { ErrorRecord } from '../../../nodes/shared/n8n/errors/errorRecord';
import { aligned } from '../../support/pages/markdown';
import { faults, type Fault } from './faults';
import { repetitionOf, type FaultRoute, type Repetition } from './routes';

/** Whether a fault passes after one request, or stays. */
export type Duration = 'once' | 'always';

/** How a cell of the matrix ends. */
export interface Outcome {
	/** Requests of the route that reached the gateway. */
	requests: number;
	/** Lines of the billing ledger. */
	charges: number;
	/** From the error record; undefined when the node gives an item. */
	error?: Pick<ErrorRecord, 'status' | 'billed'>;
	/** Set if a hint says that the request was sent twice, so that it may be charged twice. */
	hintsTwice?: true;
}

interface Cell {
	route: FaultRoute;
	fault: Fault;
	duration: Duration;
	outcome: Outcome;
}

const columns: Record<Repetition, string> = {
	job: 'a create',
	generation: 'chat, message, embedding, image',
	read: 'a read',
	poll: 'a wait',
	download: 'the file of a video',
	fetch: 'the file of an image',
};

const billed = { no: 'not charged', unknown: 'perhaps charged', yes: 'charged' } as const;

const wordsOf = ({ requests, charges, error, hintsTwice }: Outcome): string =>
	[
		error ? `error ${error.status || ''}`.trim() : 'item',
		`${requests}×`,
		...(error ? [billed[error.billed]] : []),
		...(charges > 1 ? [`${charges} charges`] : []),
		...(hintsTwice ? ['a hint says so'] : []),
	].join(', ');

/** The outcome of most routes of a kind, and the routes with another one. */
function wordsOfAll(cells: Cell[]): string {
	const routesOf = new Map<string, string[]>();
	for (const { outcome, route } of cells) {
		const words = wordsOf(outcome);
		routesOf.set(words, [...(routesOf.get(words) ?? []), route.name]);
	}
	const [[common], ...others] = [...routesOf].sort(([, a], [, b]) => b.length - a.length);
	return [common, ...others.map(([words, names]) => `(${names.join('; ')}: ${words})`)].join(' ');
}

function table(cells: Cell[], duration: Duration): string {
	const header = ['fault', ...Object.values(columns)];
	const lines = faults
		.map(({ name }) =>
			cells.filter(({ fault, ...cell }) => fault.name === name && cell.duration === duration),
		)
		.filter((ofFault) => ofFault.length > 0)
		.map((ofFault) => [
			ofFault[0].fault.name,
			...Object.keys(columns).map((repetition) =>
				wordsOfAll(ofFault.filter(({ route }) => repetitionOf(route) === repetition)),
			),
		]);
	return aligned([header, ...lines]);
}

/** The text of test/deep/faults.md, from the observed outcomes. */
export function faultPage(cells: Cell[]): string {
	const routes = new Set(cells.map(({ route }) => route.name)).size;
	return `# Every fault, every request

Written by \`test/deep/faultMatrix.test.ts\` from what it saw: ${cells.length} workflows in n8n's engine. Each makes one of ${routes} requests and meets one of ${faults.length} faults. How to read a cell:

- \`item\`: the node gave what it should. \`error 429\`: it gave an error, with this HTTP status; without a number, no response arrived.
- \`3×\`: this many requests reached the service.
- \`not charged\`, \`perhaps charged\`, \`charged\`: what the error says about the charge. The billing log of the service never showed more than one charge, and none where an error says that there is none. The exceptions are the faults of a proxy that are \`accepted\`: the service charges for each response that it has sent, and the proxy discards it.
- \`a hint says so\`: the item has a hint that its request was sent twice.
- In brackets: requests with another outcome.

A wait lasts three minutes here, and polls every ten seconds. Its video is already charged.

## A fault that passes after one request

${table(cells, 'once')}

## A fault that stays

${table(cells, 'always')}
`;
}
