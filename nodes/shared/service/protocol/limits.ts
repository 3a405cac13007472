/** "Limits" that belong to no single field, in the units of their names. */
export const limits = {
	taskIdHours: 24,
	resultUrlHours: 24,
	imageUrlMinutes: 10,
	minPollSeconds: 3,
	waitMinutes: 20,
} as const;
