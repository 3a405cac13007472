import { maxReadText } from '../../../../nodes/shared/service/protocol/bounds';
import { read } from '../../../../nodes/shared/service/reader/values';

describe('an answer', () => {
	it('has its values with the names above them, the least nested first', () => {
		const { values, isWhole } = read({ a: { 'Task-ID': [7] }, b: true, c: null });
		expect(isWhole).toBe(true);
		expect(values).toMatchObject([
			{ value: true, path: ['b'], name: 'b', isEntry: false, isWithinList: false },
			{
				value: 7,
				path: ['a', 'taskid'],
				names: ['a', 'Task-ID'],
				isEntry: true,
				isWithinList: true,
			},
		]);
		expect(values.map(({ isOneOfMany }) => isOneOfMany)).toEqual([false, false]);
	});

	it('has the entries of lists at one path together, and a vector as one entry', () => {
		const { lists, values } = read({ data: [{ embedding: [1, 2] }, { embedding: [3, 4] }] });
		expect(lists).toMatchObject([
			{ path: ['data'], isUsual: true, isWithinList: false },
			{
				path: ['data', 'embedding'],
				entries: [
					[1, 2],
					[3, 4],
				],
				isWithinList: true,
			},
		]);
		expect(values).toEqual([]);
	});

	it('has lists at different paths apart', () => {
		const { lists } = read({ a: { b: [true] }, ab: [false] });
		expect(lists.map(({ entries }) => entries)).toEqual([[false], [true]]);
	});

	it('opens only so much JSON in texts', () => {
		const text = JSON.stringify({ x: 'a'.repeat(0.6 * maxReadText) });
		expect(read([text, text]).values.map(({ name }) => name)).toEqual(['', 'x']);
	});

	it('is read within bounds, and says whether something was left out', () => {
		const body = { a: 1, b: 2, c: 3 };
		expect(read(body, 5)).toMatchObject({ isWhole: true });
		expect(read(body, 4)).toMatchObject({ isWhole: false });
		expect(read(body, 3).values).toHaveLength(2);
		expect(read(['a', 'b', 'c'], 3).values).toHaveLength(2);
	});
});

it('opens JSON in a text once', () => {
	expect(read({ a: '{"b":"[2]"}' }).values).toMatchObject([{ value: '[2]' }]);
});
