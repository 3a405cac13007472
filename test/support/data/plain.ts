import { isObject } from '../../../nodes/shared/service/json';

const shared = [Object.prototype, Array.prototype, Function.prototype, String.prototype];
const ownNames = () => shared.map((prototype) => Reflect.ownKeys(prototype));
const untouched = ownNames();

/** Fails when a value cannot be an item, or when reading it has changed a prototype that all objects share. */
export function expectPlain(value: unknown): void {
	expect(ownNames()).toEqual(untouched);
	expect(strangers(value)).toEqual([]);
	expect(typeof JSON.stringify(value)).toBe('string');
}

/** The parts that are not plain objects, lists or primitive values. */
function strangers(value: unknown): unknown[] {
	if (value instanceof Uint8Array || typeof value !== 'object' || value === null) return [];
	const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
	const inner = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
	return [...(isPlain ? [] : [value]), ...inner.flatMap(strangers)];
}
