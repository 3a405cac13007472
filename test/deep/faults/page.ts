import { aligned } from '../../support/markdown';
import type { Duration, Outcome } from './expected';
import { faults, type Fault } from './faults';
import { repetitionOf, type FaultRoute, type Repetition } from './routes';

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

const billed = { no: 'not billed', unknown: 'perhaps billed', yes: 'billed' } as const;

const wordsOf = ({ requests, charges, error }: Outcome): string =>
	[
		error ? `error ${error.status || ''}`.trim() : 'item',
		`${requests}×`,
		...(error ? [billed[error.billed]] : []),
		...(charges > 1 ? [`${charges} charges`] : []),
	].join(', ');

/** What most routes of a kind give, and which ones do not. */
function wordsOfAll(cells: Cell[]): string {
	const routesOf = new Map<string, string[]>();
	for (const { outcome, route } of cells) {
		const words = wordsOf(outcome);
		routesOf.set(words, [...(routesOf.get(words) ?? []), route.name]);
	}
	const [[most], ...others] = [...routesOf].sort(([, a], [, b]) => b.length - a.length);
	return [most, ...others.map(([words, names]) => `(${names.join('; ')}: ${words})`)].join(' ');
}

function table(cells: Cell[], duration: Duration): string {
	const header = ['Fault', ...Object.values(columns)];
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

/** docs/faults.md, as it was seen. */
export function faultPage(cells: Cell[]): string {
	const routes = new Set(cells.map(({ route }) => route.name)).size;
	return `# Every fault, every request

What \`test/deep/faultMatrix.test.ts\` saw, and wrote: ${cells.length} workflows in n8n's engine. Each makes one of ${routes} requests, and gets one of ${faults.length} faults. How to read a cell:

- \`item\`: the node gave its output. \`error 429\`: it gave an error with this HTTP status. Without a number, no usable response arrived in time.
- \`3×\`: three requests reached the service.
- \`not billed\`, \`perhaps billed\`, \`billed\`: what the error says about the charge. The billing log never showed more than one charge, and none where an error says \`not billed\`.
- In brackets: the requests for which the result differs.

A wait lasts three minutes here, and polls every ten seconds. Its video is charged before.

## A fault of one request

${table(cells, 'once')}

## A fault of every request

${table(cells, 'always')}
`;
}
