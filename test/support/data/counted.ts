/** A value that counts how many of the objects and lists in it are looked into. */
export function counted<T extends object>(given: T): { value: T; seen: { objects: number } } {
	const looked = new Set<object>();
	const proxies = new WeakMap<object, object>();
	const wrap = (value: unknown): unknown => {
		if (typeof value !== 'object' || value === null) return value;
		const known = proxies.get(value);
		if (known) return known;
		const proxy = new Proxy(value, {
			get(target, name, receiver) {
				looked.add(target);
				return wrap(Reflect.get(target, name, receiver));
			},
			ownKeys(target) {
				looked.add(target);
				return Reflect.ownKeys(target);
			},
		});
		proxies.set(value, proxy);
		return proxy;
	};
	const seen = {
		get objects() {
			return looked.size;
		},
	};
	return { value: wrap(given) as T, seen };
}
