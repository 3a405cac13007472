import {
	passLength,
	type ParkingPolicy,
	type PassLength,
} from '../../../../nodes/ModelGatewayWaitForVideo/parkingPolicy';

describe('the length of a pass', () => {
	const now = 1_000_000;
	const stay: PassLength = { name: 'stay' };
	const parkAtOnce: PassLength = { name: 'parkAtOnce' };
	const pollUntil = (time: number): PassLength => ({ name: 'pollUntil', time });

	it.each<[ParkingPolicy, string, PassLength, PassLength]>([
		['park', 'production', parkAtOnce, pollUntil(now)],
		['park', 'manual', parkAtOnce, pollUntil(now)],
		['stay', 'production', stay, stay],
		['stay', 'manual', stay, stay],
		['storeOnceThenStay', 'production', parkAtOnce, stay],
		['storeOnceThenStay', 'manual', pollUntil(now + 15_000), stay],
	])(
		'gives a pass its length under the policy %s in a %s run, before and after the jobs are stored',
		(policy, run, before, after) => {
			const isManual = run === 'manual';
			expect(passLength(policy, { areJobsStored: false, isManual, now })).toEqual(before);
			expect(passLength(policy, { areJobsStored: true, isManual, now })).toEqual(after);
		},
	);
});
