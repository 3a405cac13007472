const path = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** The end-to-end tests that take minutes. */
const longest = ['startedExamples', 'upgrade', 'parking', 'expectedTimes', 'queueMode'];

/** Begins with the longest files also in a fresh clone, where jest knows no times and begins with the largest. */
module.exports = class LongestFirst extends Sequencer {
	sort(tests) {
		const place = ({ path: file }) => {
			const at = longest.indexOf(path.basename(file, '.e2e.ts'));
			return at < 0 ? longest.length : at;
		};
		return super.sort(tests).sort((one, other) => place(one) - place(other));
	}
};
