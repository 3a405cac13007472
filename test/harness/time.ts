import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';

/** Real milliseconds between two looks. */
const step = 2;

export interface SimulatedTimeOptions {
	/** Real milliseconds that an open connection may stand still before time passes over it. */
	patience?: number;
}

/**
 * Lets the engine and the nodes wait in simulated time, under jest: time stands still while anything is under
 * way, and otherwise jumps to the timer that is due first. Sockets and files stay real. Node's own timers do
 * too (`node:timers/promises`), as a server needs them that is to be slow.
 */
export class SimulatedTime {
	private readonly sockets = new Set<Socket>();
	/** What was under way when it was last waited for. */
	private still?: string;
	private readonly ending = new AbortController();
	private readonly pump: Promise<void>;

	constructor(private readonly options: SimulatedTimeOptions = {}) {
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
		subscribe('net.client.socket', this.watch);
		this.pump = this.run();
	}

	/** Connections that were opened from this process, to whomever. */
	get openConnections(): number {
		return this.sockets.size;
	}

	async end(): Promise<void> {
		this.ending.abort();
		await this.pump;
		unsubscribe('net.client.socket', this.watch);
		jest.useRealTimers();
	}

	private readonly watch = (message: unknown) => {
		const { socket } = message as { socket: Socket };
		this.sockets.add(socket);
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
		if (jest.getTimerCount() === 0) {
			await this.pause(step);
			return false;
		}
		const { underWay } = this;
		if (underWay === undefined) return true;
		const { patience = 50 } = this.options;
		const until = performance.now() + (underWay === this.still ? patience / 10 : patience);
		while (performance.now() < until) {
			await this.pause(step);
			// A busy machine may fire the timer late, with what the connection waits for just arriving.
			await setImmediate();
			if (this.underWay !== underWay) return false;
		}
		this.still = underWay;
		return !this.ending.signal.aborted;
	}

	/** Connections and the bytes that went over them, and what is done with files and names; undefined is: nothing. */
	private get underWay(): string | undefined {
		const bytes = [...this.sockets].reduce((sum, s) => sum + s.bytesRead + s.bytesWritten, 0);
		// What is done and not yet forgotten stands here too: it does not change.
		const others = process
			.getActiveResourcesInfo()
			.filter((name) => /^(FS|GetAddrInfo)/.test(name));
		const isNothing = this.sockets.size === 0 && others.length === 0;
		return isNothing ? undefined : [this.sockets.size, bytes, ...others].join();
	}
}
