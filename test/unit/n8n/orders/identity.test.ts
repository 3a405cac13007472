import type { IBinaryData, IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { hashOf, WishNames } from '../../../../nodes/shared/n8n/orders/identity';
import { Line } from '../../../../nodes/shared/n8n/orders/line';

describe('the hash of a request', () => {
	const file: IBinaryData = {
		data: 'filesystem-v2',
		mimeType: 'image/png',
		bytes: 8,
		fileName: 'a.png',
		id: 'filesystem-v2:workflows/1/executions/1/binary_data/1',
	};

	it('the hash ignores the ID and the name of a file', () => {
		const fetchedAgain = { ...file, id: 'filesystem-v2:2', fileName: 'tmp7.png' };
		expect(hashOf({ media: [fetchedAgain] })).toBe(hashOf({ media: [file] }));
	});

	it.each<Partial<IBinaryData>>([{ bytes: 9 }, { mimeType: 'image/jpeg' }])(
		'the hash depends on the type and the size of a file: %j',
		(other) => {
			expect(hashOf([{ ...file, ...other }])).not.toBe(hashOf([file]));
		},
	);

	it('the hash depends on the whole content of a file that n8n keeps in the item', () => {
		const inItem = { data: 'AAAA', mimeType: 'image/png', bytes: 3 };
		expect(hashOf([{ ...inItem, data: 'AAAB' }])).not.toBe(hashOf([inItem]));
	});

	it('the hash depends on every field of an object of the user that looks like a file', () => {
		const style = { mimeType: 'image/png', data: 'AAAA', role: 'style' };
		expect(hashOf([{ ...style, role: 'subject' }])).not.toBe(hashOf([style]));
	});

	it('the hash of a file of n8n 1, which has its size as a text, depends on its name', () => {
		const { bytes, ...rounded } = { ...file, fileSize: '8 B' };
		expect(hashOf([{ ...rounded, fileName: 'b.png' }])).not.toBe(hashOf([rounded]));
		expect(hashOf([{ ...rounded, fileSize: '9 B' }])).not.toBe(hashOf([rounded]));
		expect(bytes).toBe(8);
	});

	it('the hash depends on every other field', () => {
		expect(hashOf({ a: 1, b: [undefined] })).not.toBe(hashOf({ a: 1, b: [] }));
		expect(hashOf({ data: 'x' })).not.toBe(hashOf({ data: 'y' }));
	});
});

describe('the parameters of an order', () => {
	const nodeWith = (media: unknown): IExecuteFunctions =>
		({
			getNode: () => ({ type: 'modelGateway', parameters: { media } as IDataObject }),
			getInputData: () => [{ json: {} }],
		}) as unknown as IExecuteFunctions;
	const parametersOf = (media: unknown) => {
		const journal = { origin: 'origin', run: 0, takeNext: (_: string, from: number) => from };
		const fields = [{ property: { name: 'media', default: '' } }];
		const line = Object.assign(new Line(0), { identity: {} });
		const to = { billing: 'job', connection: {}, fields } as never;
		return new WishNames(nodeWith(media), journal, to).wishOf(line).parameters;
	};

	it.each<[unknown, unknown]>([
		[undefined, ''],
		[undefined, []],
		[undefined, { list: [] }],
		[undefined, ' {} '],
		[undefined, '[]'],
		['a', ' a\n'],
		[
			['a', ''],
			['a', null],
		],
		[
			{ a: 1, b: ['x'] },
			{ b: ['x'], a: 1, c: [] },
		],
		['={{ $json.a }}', '={{$json.a}}'],
		['id', { __rl: true, mode: 'id', value: 'id' }],
	])('the parameters are the same when %j is stored as %j', (one, other) => {
		expect(parametersOf(other)).toBe(parametersOf(one));
	});

	it.each<[unknown, unknown]>([
		[['a'], []],
		[['a'], ['b']],
		[
			['a', 'b'],
			['b', 'a'],
		],
		[{ list: ['a'] }, { list: ['a', 'a'] }],
		['{{ $json.a }}', '{{$json.a}}'],
	])('the parameters are others when %j is edited to %j', (one, other) => {
		expect(parametersOf(other)).not.toBe(parametersOf(one));
	});
});
