import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';

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
	/** Where the connections stood when they were last waited for. */
	private still?: string;
	private isRunning = true;
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

	async end(): Promise<void> {
		this.isRunning = false;
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
		while (this.isRunning) {
			if (await this.isAtRest()) jest.advanceTimersToNextTimer();
		}
	}

	private async isAtRest(): Promise<boolean> {
		// What has just happened may have consequences.
		for (let turn = 0; turn < 3; turn++) await setImmediate();
		if (jest.getTimerCount() === 0 || this.isBusy) {
			await setTimeout(1);
			return false;
		}
		if (this.sockets.size === 0) return true;
		const { moved } = this;
		const { patience = 50 } = this.options;
		await setTimeout(moved === this.still ? patience / 10 : patience);
		// A busy machine may fire the timer late, with what the connection waits for just arriving.
		await setImmediate();
		this.still = moved;
		return this.moved === moved && !this.isBusy;
	}

	/** Files are being read or written, or names looked up. */
	private get isBusy(): boolean {
		return process.getActiveResourcesInfo().some((name) => /^(FS|GetAddrInfo|Zlib)/.test(name));
	}

	/** Grows whenever a byte goes over a connection, and changes with their number. */
	private get moved(): string {
		const bytes = [...this.sockets].reduce((sum, s) => sum + s.bytesRead + s.bytesWritten, 0);
		return `${this.sockets.size} ${bytes}`;
	}
}
