/** Sets when the process of n8n started, and how long ago, both in milliseconds. */
export const setProcess = (startedAt: number, age: number) => {
	jest.spyOn(performance, 'timeOrigin', 'get').mockReturnValue(startedAt);
	jest.spyOn(performance, 'now').mockReturnValue(age);
};
