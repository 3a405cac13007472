import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { operations } from '../../nodes/ModelGateway/resources';
import type { Media } from '../../nodes/shared/gateway/jobs/referenceVideo';
import { endpoints, type Endpoint } from '../../nodes/shared/gateway/protocol/endpoints';
import { referenceVideoModels } from '../../nodes/shared/gateway/protocol/models';

const root = path.join(__dirname, '../..');

/** The fields of a media item: protocol.ts has no table of them, and the compiler keeps this one whole. */
const mediaFields = { type: true, url: true, reference_voice: true } satisfies Record<
	keyof Media,
	true
>;

const addressOf = ({ method, path: place }: Endpoint) => `${method} ${place}`;

/** Every field of every request, as `endpoint field`. */
const fields = [
	...Object.values<Endpoint>(endpoints).flatMap((endpoint) =>
		Object.keys(endpoint.fields ?? {}).map((field) => `${addressOf(endpoint)} ${field}`),
	),
	...[
		...Object.keys(mediaFields).map((field) => `input.media[].${field}`),
		...new Set(
			Object.values(referenceVideoModels).flatMap(({ parameters }) =>
				Object.keys(parameters).map((field) => `parameters.${field}`),
			),
		),
	].map((field) => `${addressOf(endpoints.referenceVideoCreate)} ${field}`),
];

interface Row {
	endpoint: string;
	/** With its endpoint. */
	field: string;
	operation: string;
	parameter: string;
	file: string;
	title: string;
}

/** The rows of docs/fields.md: endpoint, field, operation, parameter, test file, test. */
const rows = readFileSync(path.join(root, 'docs/fields.md'), 'utf8')
	.split('\n')
	.filter((line) => /^\| `(GET|POST) /.test(line))
	.map((line): Row => {
		const [endpoint, field, operation, parameter, file, title] = line
			.split('|')
			.slice(1, -1)
			.map((cell) => cell.trim().replace(/^`(.*)`$/, '$1'));
		return { endpoint, field: `${endpoint} ${field}`, operation, parameter, file, title };
	});

/** Whether the parameter, or the path to it through collections, is there. */
function hasParameter(list: INodeProperties[], [first, ...rest]: string[]): boolean {
	return list.some((parameter) => {
		if (parameter.displayName !== first) return false;
		const collections = (parameter.options ?? []) as INodePropertyCollection[];
		return rest.length === 0 || collections.some(({ values }) => hasParameter(values ?? [], rest));
	});
}

/** The text of a test, up to the next one; undefined when the file has no such test, or skips it. */
function testIn(file: string, title: string): string | undefined {
	const place = path.join(root, file);
	const text = existsSync(place) ? readFileSync(place, 'utf8') : '';
	const starts = [...text.matchAll(/^\t*(?:it|\]\))\(\s*'((?:[^'\\]|\\.)*)',/gm)];
	const index = starts.findIndex(([, found]) => found === title);
	return index === -1 ? undefined : text.slice(starts[index].index, starts[index + 1]?.index);
}

describe('docs/fields.md', () => {
	it('has a row for each field of each request, and for no other', () => {
		expect([...new Set(rows.map(({ field }) => field))].sort()).toEqual([...fields].sort());
	});

	it.each(rows)('$field is set by $operation: $parameter', ({ endpoint, operation, parameter }) => {
		const own = operations.find(({ resource, name }) => `${resource.name}: ${name}` === operation);
		const list = [...(own?.fields ?? []), ...(own?.options ?? [])];
		expect(own && addressOf(own.endpoint)).toBe(endpoint);
		expect(hasParameter(list, parameter.split(' → '))).toBe(true);
	});

	it.each(rows)('$field is proven by a test of $file that speaks of it', (row) => {
		const name = row.field.split(/[ .]/).at(-1);
		expect(testIn(row.file, row.title)).toMatch(new RegExp(`\\b${name}\\b`));
	});
});
