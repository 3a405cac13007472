import { moments } from './moments';
import type { Plan } from './scenes';
import { forms } from './workflow';

/** Every form at every moment, and some executions that start just before the kill. */
export function allPlans(): Plan[] {
	const placed = moments.flatMap((moment) =>
		moment.forms.map((form) => ({ moment, workflow: { ...moment.workflow, form } })),
	);
	return named([...placed, ...atRandom(20)]);
}

/** Every moment once, and some at random moments: 20 in all. */
export function samplePlans(): Plan[] {
	const placed = moments.map((moment, index) => ({
		moment,
		workflow: { ...moment.workflow, form: moment.forms[index % moment.forms.length] },
	}));
	return named([...placed, ...atRandom(20 - moments.length)]);
}

const atRandom = (count: number): Unnamed[] =>
	Array.from({ length: count }, (_, index) => ({
		workflow: { form: forms[index % forms.length] },
	}));

type Unnamed = Omit<Plan, 'workflow'> & { workflow: Omit<Plan['workflow'], 'name'> };

const named = (plans: Unnamed[]): Plan[] =>
	plans.map(({ workflow, ...plan }, index) => ({
		...plan,
		workflow: { ...workflow, name: `w${index}` },
	}));
