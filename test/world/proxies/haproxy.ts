import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Proxy, Site } from './proxy';

const listen =
	(...settings: string[]) =>
	({ host, port, target, name }: Site): string =>
		`
listen ${name}
	bind ${host}:${port}
	${settings.join('\n\t')}
	server gateway ${target}
`;

export const haproxyProxies: Proxy[] = [
	{
		title: 'HAProxy: closes the connection to the gateway',
		server: listen('option http-server-close'),
	},
	{
		title: 'HAProxy: compression',
		server: listen(
			'compression algo gzip',
			'compression type application/json text/event-stream image/png video/mp4',
		),
		shows: (response) => expect(response.headers.get('content-encoding')).toBe('gzip'),
	},
];

/** Writes one configuration with all listeners. @returns how HAProxy is started in the foreground */
export function haproxyCommand(servers: string[], folder: string): [string, string[]] {
	const config = `
global
	maxconn 1000
defaults
	mode http
	timeout connect 5s
	timeout client 60s
	timeout server 60s
	timeout http-request 60s
	retries 1
${servers.join('')}
`;
	const file = path.join(folder, 'haproxy.cfg');
	writeFileSync(file, config);
	return ['haproxy', ['-db', '-f', file]];
}
