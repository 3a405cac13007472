import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export interface Mail {
	to: string;
	subject: string;
	/** The part that the recipient sees; empty in a mail with only text. */
	html: string;
	text: string;
	/** The links of the buttons, by their labels. */
	buttons: Record<string, string>;
}

export interface Mailbox {
	/** The data of n8n's credential type `smtp`. */
	credential: Record<string, string | number | boolean>;
	/** In the order in which they arrived. */
	mails: Mail[];
	close(): Promise<void>;
}

export async function openMailbox(): Promise<Mailbox> {
	const mails: Mail[] = [];
	const server = new SMTPServer({
		authOptional: true,
		hideSTARTTLS: true,
		disableReverseLookup: true,
		onData(stream, session, done) {
			const { rcptTo } = session.envelope;
			buffer(stream)
				.then(async (bytes) => await PostalMime.parse(bytes))
				.then(({ subject = '', html = '', text = '' }) => {
					const to = rcptTo.map(({ address }) => address).join(', ');
					mails.push({ to, subject, html, text, buttons: buttonsOf(html) });
				})
				.then(() => done(), done);
		},
	});
	server.listen(0, '127.0.0.1');
	await once(server.server, 'listening');
	const { port } = server.server.address() as AddressInfo;
	return {
		credential: { host: '127.0.0.1', port, secure: false, disableStartTls: true },
		mails,
		close: async () => await new Promise<void>((resolve) => server.close(() => resolve())),
	};
}

function buttonsOf(html: string): Record<string, string> {
	const links = html.matchAll(/<a href="([^"]+)"[^>]*>([^<]+)<\/a>/g);
	return Object.fromEntries([...links].map(([, link, label]) => [label, link]));
}
