const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** Runs the tests in the worker's own realm: nothing is isolated, so that n8n's engine stays loaded. */
module.exports = class SharedEnvironment {
	global = globalThis;
	moduleMocker = new ModuleMocker(globalThis);
	fakeTimers = null;
	/** Given the global object itself, these would also replace `node:timers/promises`, which slow servers of tests need. */
	fakeTimersModern;
	own = { console, exit: process.exit };

	constructor({ projectConfig }) {
		this.fakeTimersModern = new ModernFakeTimers({
			config: projectConfig,
			global: new Proxy(globalThis, {}),
		});
		Object.assign(process.env, projectConfig.testEnvironmentOptions.env);
	}

	async setup() {
		// jest has replaced it by a function that reports each call, also when the worker ends.
		process.exit = this.own.exit;
		// jest's own does not find the source maps of what Node.js has loaded; without it, Node.js does.
		delete Error.prepareStackTrace;
	}

	async teardown() {
		this.fakeTimersModern.dispose();
		globalThis.console = this.own.console;
	}

	exportConditions() {
		return ['node', 'node-addons'];
	}

	getVmContext() {
		return null;
	}
};
