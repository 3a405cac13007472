import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { proxied, refused } from '../outcomes';
import type { Proxy, Site } from './proxy';

/** @param settings of the listener @param ofServer what follows the address of the server */
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
	{
		title: 'HAProxy: rate limit, 429',
		server: listen(
			'stick-table type integer size 10 expire 10s store http_req_rate(1s)',
			'http-request track-sc0 dst_port',
			'http-request deny deny_status 429 if { sc_http_req_rate(0) gt 8 }',
		),
	},
	{
		title: 'HAProxy: gateway is down, 503',
		server: listen(),
		isDown: true,
		...{ ends: proxied(503), says: /503 Service Unavailable.*/ },
	},
	{
		title: 'HAProxy: gateway loses the response, 502',
		server: listen(),
		fault: { action: 'reset', accepted: true },
		...{ ends: proxied(502), says: /502 Bad Gateway.*/ },
	},
	{
		title: 'HAProxy: gateway is late, 504',
		server: listen('timeout server 500ms'),
		fault: { action: 'stall', accepted: true, seconds: 3 },
		...{ ends: proxied(504), says: /504 Gateway Time-out.*/ },
	},
	{
		title: 'HAProxy: request takes too long, 408',
		server: listen('http-request deny deny_status 408'),
		...{ ends: proxied(408), says: /408 Request Time-out.*/ },
	},
	{
		title: 'HAProxy: forbids the path, 403',
		server: listen('http-request deny'),
		...{ ends: refused(403), says: /403 Forbidden.*probably of a proxy or a firewall/ },
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
