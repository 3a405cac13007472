/** "Limits": those that belong to no single field. Seconds, minutes and hours as named. */
export const limits = {
	taskIdHours: 24,
	resultUrlHours: 24,
	videoUrlHours: 24,
	imageUrlMinutes: 10,
	minPollSeconds: 3,
	waitMinutes: 20,
} as const;
