const { createRequire } = require('node:module');
const { default: Runtime } = require('jest-runtime');

// Loads TypeScript.
require('tsx/cjs');

/**
 * Loads tests and sources as Node.js does, instead of anew for each file: n8n's engine takes two seconds. Only the test
 * file itself, its set-up and the test framework are fresh. With `environment.js`, all run in the worker's own realm.
 */
module.exports = class SharedRuntime extends Runtime {
	constructor(...args) {
		super(...args);
		for (const file of Object.keys(require.cache)) {
			if (file.includes('/jest-circus/build/')) delete require.cache[file];
		}
		// Else each test would report to the handlers of every earlier file, too.
		for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
			if (/^(EVENT_HANDLERS|JEST_STATE_SYMBOL)$/.test(symbol.description ?? '')) {
				delete globalThis[symbol];
			}
		}
	}

	/** @param name a module that the file asks for; without it, the file itself is loaded */
	requireModule(file, name, { isInternalModule = false } = {}) {
		if (isInternalModule) return require(name ?? file);
		if (name !== undefined) return createRequire(file)(name);
		globalThis.jest = this.jestGlobals.jestObjectFor(file);
		delete require.cache[file];
		return require(file);
	}
};
