const Sequencer = require('@jest/test-sequencer').default;

/** By its size, jest takes the longest test for a short one, and starts it when nothing is left for the other core. */
module.exports = class extends Sequencer {
	sort(tests) {
		const isLongest = ({ path }) => path.endsWith('moneyRuns.test.ts');
		const sorted = super.sort(tests);
		return [...sorted.filter(isLongest), ...sorted.filter((test) => !isLongest(test))];
	}
};
