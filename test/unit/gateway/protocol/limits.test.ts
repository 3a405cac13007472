import { endpoints } from '../../../../nodes/shared/gateway/protocol/endpoints';
import { jobKinds } from '../../../../nodes/shared/gateway/protocol/jobs';
import { limits } from '../../../../nodes/shared/gateway/protocol/limits';

describe('limits', () => {
	it('matches the time limits and poll intervals of the specification', () => {
		expect(limits).toEqual({
			taskIdHours: 24,
			resultUrlHours: 24,
			imageUrlMinutes: 10,
			minPollSeconds: 3,
			waitMinutes: 20,
		});
		expect(jobKinds.task).toEqual({ endpoint: endpoints.task, pollSeconds: 10 });
		expect(jobKinds.video.endpoint).toBe(endpoints.video);
		expect(jobKinds.video.pollSeconds).toBeGreaterThanOrEqual(5);
		expect(jobKinds.video.pollSeconds).toBeLessThanOrEqual(10);
	});
});
