import { createHook } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import dns from 'node:dns';
import { isIP, type Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';

import { isPublicName, lookUp } from '../support/http/publicNames';
import { nextPolls } from '../../nodes/shared/service/client/sendInTurn';

/** The names that jest leaves real: all but `Date`, `setTimeout` and `setInterval`. */
const doNotFake = [
	...(['hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
	...(['setImmediate', 'clearImmediate'] as const),
];

/** Real milliseconds between two checks. */
const step = 1;

/**
 * Lets the engine and the nodes wait in simulated time, under jest: time stands still while anything is under way, and
 * otherwise jumps to the timer that is due first. Sockets and files stay real. Node's own timers
 * (`node:timers/promises`) stay real too, because slow servers in tests need them. No other host has an address: a name
 * server may respond later than time would stand still.
 */
export class SimulatedTime {
	private readonly sockets = new Set<Socket>();
	/**
	 * Requests to the system about files and names that are under way: a busy disk may take long. Also the work of native
	 * modules on threads, such as drawing, which has no type name.
	 */
	private readonly systemRequests = new Set<number>();
	private readonly systemHook = createHook({
		init: (id, type) => {
			if (/^(FSREQ|GETADDRINFO|undefined$)/.test(type)) this.systemRequests.add(id);
		},
		after: (id) => this.systemRequests.delete(id),
	}).enable();
	/** The state that last stayed the same for the whole patience. */
	private still?: string;
	private readonly lookUp = jest.spyOn(dns, 'lookup');
	private readonly counter: { mockRestore(): void };
	private opened = 0;
	private readonly ending = new AbortController();
	private readonly pump: Promise<void>;

	/**
	 * @param patience the number of checks in a row that must find no change on an open connection before time passes all
	 * the same. It counts checks and not milliseconds, because this process may have to wait for the machine
	 */
	constructor(public patience = 20) {
		// The clock is set back, so a poll of an earlier test would delay one of this test.
		nextPolls.clear();
		jest.useFakeTimers({ now: Date.UTC(2026, 0, 1), doNotFake });
		// It counts the simulated milliseconds, whatever a test sets `Date` to.
		const { clock } = globalThis.setTimeout as unknown as {
			clock: { performance: typeof performance };
		};
		const begin = performance.now();
		this.counter = jest
			.spyOn(performance, 'now')
			.mockImplementation(() => begin + clock.performance.now());
		this.lookUp.mockImplementation(lookUpHere as typeof dns.lookup);
		subscribe('net.client.socket', this.watch);
		this.pump = this.run();
	}

	/** Settles when every connection opened by this process has ended. */
	async connectionsEnded(): Promise<void> {
		while (this.sockets.size > 0) await this.pause(step);
	}

	async end(): Promise<void> {
		this.ending.abort();
		await this.pump;
		unsubscribe('net.client.socket', this.watch);
		this.systemHook.disable();
		this.lookUp.mockRestore();
		this.counter.mockRestore();
		// Whoever waits for the next turn of the event loop would wait for ever, and large responses of later tests with it.
		jest.advanceTimersByTime(0);
		jest.useRealTimers();
	}

	private readonly watch = (message: unknown) => {
		const { socket } = message as { socket: Socket };
		this.sockets.add(socket);
		this.opened++;
		socket.once('close', () => this.sockets.delete(socket));
	};

	private async run(): Promise<void> {
		while (!this.ending.signal.aborted) {
			if (await this.isAtRest()) jest.advanceTimersToNextTimer();
		}
	}

	private async pause(milliseconds: number): Promise<void> {
		const { signal } = this.ending;
		await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
	}

	private async isAtRest(): Promise<boolean> {
		// Let pending consequences happen first.
		for (let turn = 0; turn < 3; turn++) await setImmediate();
		if (jest.getTimerCount() === 0 || this.systemRequests.size > 0) {
			await this.pause(step);
			return false;
		}
		const { state } = this;
		const isIdle = this.sockets.size === 0;
		// Threads that compress are not visible, so it may only seem idle.
		const share = isIdle ? 0.25 : 1;
		// Perhaps only a recurring timer has run since the last check: that needs no patience again.
		const looks = state === this.still ? 0 : this.patience * share;
		for (let look = 0; look < looks; look++) {
			await this.pause(step);
			await setImmediate();
			if (this.state !== state) return false;
		}
		this.still = state;
		return !this.ending.signal.aborted;
	}

	/** The timers, the connections, the bytes sent over them, and the requests about files and names. */
	private get state(): string {
		const bytes = [...this.sockets].reduce((sum, s) => sum + s.bytesRead + s.bytesWritten, 0);
		return [
			jest.getTimerCount(),
			this.opened,
			this.sockets.size,
			bytes,
			this.systemRequests.size,
		].join();
	}
}

/** Node's own lookup, except that the names of hosts elsewhere are unknown. */
function lookUpHere(name: string, ...rest: unknown[]): void {
	if (name === 'localhost' || isIP(name) !== 0 || isPublicName(name)) {
		Reflect.apply(lookUp, dns, [name, ...rest]);
		return;
	}
	const error = new Error(`getaddrinfo ENOTFOUND ${name}`);
	const details = { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: name };
	const callback = rest.at(-1) as (error: Error) => void;
	process.nextTick(callback, Object.assign(error, details));
}
