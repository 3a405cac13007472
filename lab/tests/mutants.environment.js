const SharedEnvironment = require('../../test/runner/environment');

/** The object in which all sources look for the active change: they stay loaded, and have read it only once. */
let shared;

/** The change that a test has noticed last. */
let noticed;

/**
 * Tells the sources that are loaded already which change is active, since Stryker expects them to be loaded anew, and
 * skips the other tests of a file once one has noticed it.
 */
module.exports = class MutantEnvironment extends SharedEnvironment {
	/** Whether a test has noticed the change that is active. */
	static hasNoticed() {
		const { __STRYKER_ACTIVE_MUTANT__: active } = process.env;
		return active !== undefined && noticed === active;
	}

	async setup() {
		await super.setup();
		const { hitCount, hitLimit } = globalThis.__stryker__;
		shared ??= globalThis.__stryker__;
		const activeMutant = process.env.__STRYKER_ACTIVE_MUTANT__;
		Object.assign(shared, { activeMutant, hitCount, hitLimit });
	}

	handleTestEvent({ name, test, describeBlock }) {
		if (name === 'test_fn_failure' || name === 'hook_failure') noticed = shared.activeMutant;
		if (!MutantEnvironment.hasNoticed()) return;
		if (name === 'run_describe_start') describeBlock.mode = 'skip';
		if (name === 'test_start') test.mode = 'skip';
	}
};
