import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Proxy, Site } from './proxy';

/** Debian's package for it has no command by which it could be found. */
export const brotliModule = '/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so';

interface Server {
	/** Settings of the server. */
	settings?: string[];
	/** Settings of its location. */
	location?: string[];
	/** Before the target's path. */
	prefix?: string;
	listens?: string;
}

const http11 = ['proxy_http_version 1.1;', 'proxy_set_header Connection "";'];
const compressed = 'application/json text/event-stream text/html image/png video/mp4';

const server =
	({ settings = [], location = http11, prefix = '/', listens = '' }: Server) =>
	({ host, port, target }: Site): string => {
		const address = host === '::1' ? `[::1]:${port}` : `${host}:${port}`;
		return `
	server {
		listen ${address}${listens};
		${settings.join('\n\t\t')}
		location ${prefix} {
			proxy_pass http://${target}/;
			${location.join('\n\t\t\t')}
		}
	}`;
	};

const tls = ['ssl_certificate trusted.pem;', 'ssl_certificate_key trusted.key;'];

/** Speaks TLS with a certificate that n8n trusts. */
export const tlsServer = server({ listens: ' ssl', settings: tls });

const encodes = (encoding: string) => (response: Response) =>
	expect(response.headers.get('content-encoding')).toBe(encoding);

export const nginxProxies: Proxy[] = [
	{ title: 'nginx: buffering on', server: server({}) },
	{
		title: 'nginx: buffering off',
		server: server({
			location: [...http11, 'proxy_buffering off;', 'proxy_request_buffering off;'],
		}),
	},
	{
		title: 'nginx: gzip',
		server: server({
			settings: ['gzip on;', 'gzip_min_length 1;', `gzip_types ${compressed};`],
		}),
		shows: encodes('gzip'),
	},
	{
		title: 'nginx: brotli',
		server: server({
			settings: ['brotli on;', 'brotli_min_length 1;', `brotli_types ${compressed};`],
		}),
		shows: encodes('br'),
	},
	{ title: 'nginx: HTTP/1.0 to the gateway', server: server({ location: [] }) },
	{
		title: 'nginx: closes each connection',
		server: server({ settings: ['keepalive_timeout 0;'] }),
		shows: (response) => expect(response.headers.get('connection')).toBe('close'),
	},
	{
		title: 'nginx: closes a connection after three requests',
		server: server({ settings: ['keepalive_requests 3;'] }),
	},
	{ title: 'nginx: path prefix', path: '/gateway', server: server({ prefix: '/gateway/' }) },
	{
		title: 'nginx: IPv6',
		host: '::1',
		server: server({}),
	},
	{
		title: 'nginx: TLS and HTTP/2, certificate that n8n trusts',
		scheme: 'https',
		server: server({ listens: ' ssl http2', settings: tls }),
	},
];

/** Writes one configuration with all servers. @returns how nginx is started in the foreground */
export function nginxCommand(servers: string[], folder: string): [string, string[]] {
	const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
	const config = `
load_module ${brotliModule};
daemon off;
# One process, which needs no other user.
master_process off;
error_log stderr crit;
pid nginx.pid;
events {}
http {
	${places.map((name) => `${name}_temp_path ${name};`).join('\n\t')}
	access_log off;
	types {}
	${servers.join('\n')}
}
`;
	const file = path.join(folder, 'nginx.conf');
	writeFileSync(file, config);
	return ['nginx', ['-e', 'stderr', '-p', folder, '-c', file]];
}
