/**
 * Sets when the process of n8n started, and how long ago, both in milliseconds.
 * @returns a function that takes it back
 */
export const setProcess = (startedAt: number, age: number): (() => void) => {
	const start = jest.spyOn(performance, 'timeOrigin', 'get').mockReturnValue(startedAt);
	const now = jest.spyOn(performance, 'now').mockReturnValue(age);
	return () => {
		start.mockRestore();
		now.mockRestore();
	};
};
