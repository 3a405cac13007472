/** An object that has what the current one has, for callers that cannot wait for it. */
export const standInFor = <T extends object>(current: () => T): T =>
	new Proxy({} as T, {
		get(_, name) {
			const value: unknown = Reflect.get(current(), name);
			return typeof value === 'function' ? (value.bind(current()) as unknown) : value;
		},
		// For `{ ...gateway }`.
		ownKeys: () => Reflect.ownKeys(current()),
		getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(current(), name),
	});
