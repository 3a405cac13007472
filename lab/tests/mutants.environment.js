const SharedEnvironment = require('../../test/runner/environment');

/** Where all sources look for the change that is active: they stay loaded, and have read it only once. */
let shared;

/** Tells the sources that are loaded already which change is active. Stryker expects them to be loaded anew. */
module.exports = class MutantEnvironment extends SharedEnvironment {
	async setup() {
		await super.setup();
		const { hitCount, hitLimit } = globalThis.__stryker__;
		shared ??= globalThis.__stryker__;
		const activeMutant = process.env.__STRYKER_ACTIVE_MUTANT__;
		Object.assign(shared, { activeMutant, hitCount, hitLimit });
	}
};
