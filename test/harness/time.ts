import { createHook } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import dns from 'node:dns';
import { isIP, type Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';

import { jobTurns } from '../../nodes/shared/gateway/client/jobTurns';

/** Real milliseconds between two looks. */
const step = 1;

/**
 * Lets the engine and the nodes wait in simulated time, under jest: time stands still while anything is under
 * way, and otherwise jumps to the timer that is due first. Sockets and files stay real. Node's own timers do
 * too (`node:timers/promises`), as a server needs them that is to be slow. No host but this machine has an
 * address: a name server may take longer to say so than time would stand still.
 */
export class SimulatedTime {
	private readonly sockets = new Set<Socket>();
	/**
	 * What the system is asked of files and names, until it has answered: a busy disk may take long. And what
	 * native modules do on threads, such as to draw: their work has no name.
	 */
	private readonly asked = new Set<number>();
	private readonly asking = createHook({
		init: (id, type) => {
			if (/^(FSREQ|GETADDRINFO|undefined$)/.test(type)) this.asked.add(id);
		},
		after: (id) => this.asked.delete(id),
	}).enable();
	/** What was last waited for with patience, and did not change. */
	private still?: string;
	private opened = 0;
	private unseen = 0;
	private readonly ending = new AbortController();
	private readonly pump: Promise<void>;

	/**
	 * @param patience how many looks in a row must find an open connection standing still before time passes
	 * over it. Looks and not milliseconds: this process may have to wait for the machine
	 */
	constructor(public patience = 20) {
		// The clock is set back: a poll of an earlier test would hold back one of this test.
		jobTurns.clear();
		jest.useFakeTimers({
			now: Date.UTC(2026, 0, 1),
			doNotFake: [
				'nextTick',
				'queueMicrotask',
				'setImmediate',
				'clearImmediate',
				'performance',
				'hrtime',
			],
		});
		jest.spyOn(dns, 'lookup').mockImplementation(lookUpHere as typeof dns.lookup);
		subscribe('net.client.socket', this.watch);
		this.pump = this.run();
	}

	/** Stands still until this has ended, which time cannot see: worker threads that render. */
	async during<T>(work: Promise<T>): Promise<T> {
		this.unseen++;
		return await work.finally(() => this.unseen--);
	}

	/** Settles when every connection that was opened from here has ended. */
	async connectionsEnded(): Promise<void> {
		while (this.sockets.size > 0) await this.pause(step);
	}

	async end(): Promise<void> {
		this.ending.abort();
		await this.pump;
		unsubscribe('net.client.socket', this.watch);
		this.asking.disable();
		jest.mocked(dns.lookup).mockRestore();
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
		// What has just happened may have consequences.
		for (let turn = 0; turn < 3; turn++) await setImmediate();
		if (jest.getTimerCount() === 0 || this.asked.size + this.unseen > 0) {
			await this.pause(step);
			return false;
		}
		const { state } = this;
		const isIdle = this.sockets.size === 0;
		// Threads that compress are not seen, so that it may only seem idle.
		const share = isIdle ? 0.25 : 1;
		// A timer that recurs makes no difference.
		const looks = state === this.still ? 0 : this.patience * share;
		for (let look = 0; look < looks; look++) {
			await this.pause(step);
			await setImmediate();
			if (this.state !== state) return false;
		}
		this.still = state;
		return !this.ending.signal.aborted;
	}

	/** Timers, connections, the bytes that went over them, and what was asked of files and names. */
	private get state(): string {
		const bytes = [...this.sockets].reduce((sum, s) => sum + s.bytesRead + s.bytesWritten, 0);
		return [jest.getTimerCount(), this.opened, this.sockets.size, bytes, this.asked.size].join();
	}
}

const { lookup } = dns;

/** Node's own, but for the names of other hosts. */
function lookUpHere(name: string, ...rest: unknown[]): void {
	if (name === 'localhost' || isIP(name) !== 0) {
		Reflect.apply(lookup, dns, [name, ...rest]);
		return;
	}
	const error = new Error(`getaddrinfo ENOTFOUND ${name}`);
	const details = { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: name };
	const callback = rest.at(-1) as (error: Error) => void;
	process.nextTick(callback, Object.assign(error, details));
}
