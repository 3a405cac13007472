import base from '../../vitest.config.mts';

const { projects: [quick] = [], ...test } = base.test ?? {};
const { MUTANT_TESTS: include = '' } = process.env;

/** The settings of `npm test` for the test files that mutants.ts names, in the one worker that Stryker allows. */
export default {
	...base,
	test: {
		...test,
		...(typeof quick === 'object' && 'test' in quick ? quick.test : {}),
		include: include.split(' '),
		maxWorkers: 1,
		reporters: [],
	},
};
