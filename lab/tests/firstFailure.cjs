const TestEnvironment = require('@stryker-mutator/jest-runner/jest-env/node');

/** Skips all tests after the first failure, which has noticed the mutant. */
module.exports = class extends TestEnvironment {
	hasFailed = false;

	handleTestEvent({ name, test }) {
		if (name === 'test_start' && this.hasFailed) test.mode = 'skip';
		if (name === 'test_done' && test.errors.length > 0) this.hasFailed = true;
	}
};
