import { GatewayError } from '../errors/gatewayError';
import { responseHidden } from '../errors/requestErrors';
import type { FileEnd, FileState } from '../files/fileEnd';
import { fileTypeOf, headLength, typeToDeliver, type FileType } from '../files/fileType';
import { followFile } from '../files/fileFormats';
import { excerpt } from '../json';
import { FileLink, type Setback, type TransferRequest } from './fileLink';
import { readBody, type FileResponse } from './fileRequest';
import type { Gateway } from './gateway';
import { announcedLength, isShortRange, ReceivedPart } from './receivedPart';
import { waitBeforeRetry } from './retryPolicy';
import { SteadyClock } from './clock';
import { TransferLimit } from './transferLimit';

/** `announced`: a response ended with the last byte announced; `ended`: no length, or another one, was announced. */
type Ending = 'broken' | 'ended' | 'announced';

/** Whether a file is complete, by its bytes and the end of its response. `twice`: if it ends here once more. */
const isComplete: Record<FileState, Record<Ending, boolean | 'twice'>> = {
	// A host may announce more bytes than there are, and then breaks off at the same one again.
	whole: { broken: 'twice', ended: true, announced: true },
	unknown: { broken: false, ended: true, announced: true },
	lacksIndex: { broken: false, ended: false, announced: true },
	// Only where the caller takes such a file.
	cut: { broken: false, ended: false, announced: 'twice' },
};

const endsEarly = 'the file ends too early';
const nothing: Uint8Array = new Uint8Array();

/** The bytes of a file, which is requested until it is complete. */
export class FileBytes {
	/** Thrown when the host does not send the rest. It may still send the whole file. */
	cannotResume?: GatewayError;
	private readonly link: FileLink;
	private readonly limit: TransferLimit;
	private received = new ReceivedPart();
	/** Unknown until the first bytes have arrived. */
	private file?: { type: FileType; end: FileEnd };
	/** Why the bytes ended last, and where. */
	private reason = '';
	private lastEnd?: number;
	/** Tries since the last one that received bytes, including that one. */
	private emptyTries = 0;

	constructor(
		private gateway: Gateway,
		private readonly request: TransferRequest,
	) {
		this.link = new FileLink(request);
		this.limit = new TransferLimit(new SteadyClock(gateway.runtime.clock), request.bounds);
	}

	/** @throws GatewayError when no bytes have come */
	get begun(): { type: FileType; end: FileEnd } {
		if (!this.file) throw this.incomplete('no data arrived');
		return this.file;
	}

	/** From the first byte, in as many tries as it takes. @throws GatewayError */
	async *read(gateway: Gateway): AsyncGenerator<Uint8Array, void, undefined> {
		this.gateway = gateway;
		this.received = new ReceivedPart();
		this.file = undefined;
		for (;;) {
			const { length } = this.received;
			const setback = yield* this.tryOnce();
			if (setback === undefined) return;
			await this.prepareNext(setback, this.received.length > length);
		}
	}

	/** The bytes of one response; returns undefined when the file is complete. */
	private async *tryOnce(): AsyncGenerator<Uint8Array, Setback | undefined> {
		const answer = await this.link.open(this.gateway, this.received);
		if (answer === 'end') return this.judge('announced', endsEarly);
		if (answer !== 'other') return 'body' in answer ? yield* this.receive(answer) : answer;
		if (this.received.length === 0) return this.interrupted('the storage sent another part of it');
		const problem = `${this.reason}, and the storage cannot resume a transfer`;
		this.cannotResume = this.incomplete(problem);
		throw this.cannotResume;
	}

	private async *receive(response: FileResponse): AsyncGenerator<Uint8Array, Setback | undefined> {
		const { received, limit, gateway } = this;
		const declared = response.headers['content-type'];
		/** Bytes that wait until they show what the file is. */
		let head = nothing;
		let broken: unknown;
		try {
			this.enforce(limit.announce(announcedLength(response)));
			const { idleTimeout } = limit;
			for await (const bytes of readBody(response, { ...gateway.runtime, idleTimeout })) {
				head = head.length > 0 ? Buffer.concat([head, bytes]) : bytes;
				this.enforce(limit.excess(received.length + head.length));
				if (!this.file && head.length < headLength) continue;
				if (!this.isFile(head, declared)) break;
				yield this.accept(head);
				head = nothing;
			}
		} catch (error) {
			response.close();
			broken = error;
		}
		if (broken instanceof GatewayError) throw broken;
		// A file that broke off early is passed on only if its type is sure.
		const isSure = broken === undefined || fileTypeOf(head) !== undefined;
		if (head.length > 0 && isSure && this.isFile(head, declared)) {
			yield this.accept(head);
			head = nothing;
		}
		if (broken !== undefined) {
			return this.judge('broken', broken instanceof Error ? broken.message : String(broken));
		}
		if (head.length > 0) return this.page(head, response);
		if (!this.file) return this.interrupted('no data arrived');
		const isAll = received.hasAnnouncedLength;
		const ending = isShortRange(response) ? 'broken' : isAll ? 'announced' : 'ended';
		return this.judge(ending, endsEarly);
	}

	/** Whether these first bytes are those of a file: a text is none. */
	private isFile(head: Uint8Array, declared: string | undefined): boolean {
		if (this.file) return true;
		const type = typeToDeliver(head, declared);
		if (type.kind === 'text') return false;
		this.file = { type, end: followFile(type) };
		return true;
	}

	private accept(bytes: Uint8Array): Uint8Array {
		this.file?.end.push(bytes);
		this.received.length += bytes.length;
		return bytes;
	}

	private judge(ending: Ending, reason: string): Setback | undefined {
		const { length } = this.received;
		const state = this.file?.end.state ?? 'unknown';
		const isSecond = this.lastEnd === length;
		this.lastEnd = length;
		const rule = isComplete[state][ending];
		const mayEnd = state !== 'cut' || this.request.takesCut === true;
		const isDone = rule === 'twice' ? isSecond && mayEnd : rule;
		return isDone ? undefined : this.interrupted(reason);
	}

	private interrupted(reason: string): Setback {
		this.reason = reason;
		return { error: this.incomplete(reason), pause: true, newLink: false };
	}

	/** The response was a text, and no file: it may be the page of a storage host. */
	private page(head: Uint8Array, { status, isHidden }: FileResponse): Setback {
		const { wanted, refresh } = this.request;
		const beginning = Buffer.from(head.subarray(0, 2000)).toString();
		const text = isHidden ? undefined : this.gateway.redaction.truncated(beginning);
		const shown = text === undefined ? `; ${responseHidden}` : `: ${excerpt(text, 120)}`;
		const error = this.incomplete(`it is no ${wanted}${shown}`).with({
			reach: 'unreadable',
			status,
			...(text !== undefined && { raw_body: text }),
		});
		return { error, pause: true, newLink: refresh !== undefined };
	}

	/** @throws GatewayError when there is no next try */
	private async prepareNext(setback: Setback, hasProgressed: boolean): Promise<void> {
		const { error, pause, newLink } = setback;
		const { clock, signal, random } = this.gateway.runtime;
		if (pause) {
			this.emptyTries = hasProgressed ? 1 : this.emptyTries + 1;
			const tries = { tries: this.emptyTries, random: random() };
			const wait = waitBeforeRetry(error.failure, { cost: 'read', hasBackup: false }, tries);
			this.enforce(this.limit.excess(this.received.length));
			if (wait === undefined) throw error;
			await clock.sleep(wait, signal);
		}
		if (!newLink) return;
		await this.link.renew(error, this.gateway).catch((refusal: GatewayError) => {
			if (this.received.length > 0) this.cannotResume = refusal;
			throw refusal;
		});
	}

	/** @param problem why the transfer must end; continues "the file …" */
	private enforce(problem: string | undefined): void {
		if (problem !== undefined) throw this.incomplete(`the file ${problem}`);
	}

	private incomplete(reason: string): GatewayError {
		const { isTooLarge } = this.limit;
		const error = new GatewayError({
			message: `Could not ${this.request.purpose}: ${excerpt(reason)}`,
			reach: 'lost',
			billed: 'yes',
			retry_can_help: !isTooLarge,
			...(isTooLarge && { kind: 'excess' as const }),
		});
		return this.request.charged(error);
	}
}
