const { default: TestRunner } = require('jest-runner');
const MutantEnvironment = require('./mutants.environment');

/** The full names of the tests of each file that has run. */
const namesByFile = new Map();

/**
 * Runs the files that have a test of the change, the shortest first, until one has noticed it: jest would load all
 * files, and it can stop early only from the command line.
 */
module.exports = class MutantRunner extends TestRunner {
	async runTests(tests, watcher, options) {
		const stopListening = this.on('test-file-success', ([{ path }, { testResults }]) => {
			namesByFile.set(
				path,
				testResults.map(({ fullName }) => fullName),
			);
		});
		const chosen = new RegExp(this._globalConfig.testNamePattern ?? '', 'i');
		const isChosen = ({ path }) => namesByFile.get(path)?.some((name) => chosen.test(name)) ?? true;
		const byLength = (one, other) => (one.duration ?? 0) - (other.duration ?? 0);
		for (const test of tests.filter(isChosen).sort(byLength)) {
			if (MutantEnvironment.hasNoticed()) break;
			await super.runTests([test], watcher, options);
		}
		stopListening();
	}
};
