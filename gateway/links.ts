import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Signed links to results, as in object storage: with an expiry time in the query, and a signature over it. */
export class Links {
	private readonly secret = randomBytes(32);

	constructor(
		private readonly seconds: number,
		private readonly now: () => number,
	) {}

	/** Signs an address, which is then valid for the lifetime of links, or for less. */
	sign(address: string, maxSeconds = Infinity): string {
		const url = new URL(address);
		const seconds = Math.min(this.seconds, maxSeconds);
		const expires = String(Math.round(this.now() + seconds * 1000));
		// Base64 has characters that must stay escaped, so a client that rewrites the link breaks it.
		const signature = encodeURIComponent(this.signature(url.pathname, expires).toString('base64'));
		return `${address}?expires=${expires}&signature=${signature}`;
	}

	check(pathname: string, query: Record<string, string>): 'valid' | 'forged' | 'expired' {
		const { expires = '', signature = '' } = query;
		const expected = this.signature(pathname, expires);
		const given = Buffer.from(signature, 'base64');
		if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'forged';
		return this.now() < Number(expires) ? 'valid' : 'expired';
	}

	private signature(pathname: string, expires: string): Buffer {
		return createHmac('sha256', this.secret).update(`${pathname}\n${expires}`).digest();
	}
}
