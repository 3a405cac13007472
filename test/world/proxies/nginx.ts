import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { proxied, refused, unsent, withoutBodies } from '../outcomes';
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

const tls = (name: string) => ({
	listens: ' ssl',
	settings: [`ssl_certificate ${name}.pem;`, `ssl_certificate_key ${name}.key;`],
});

/** Speaks TLS with a certificate that n8n trusts. */
export const tlsServer = server(tls('trusted'));

const encodes = (encoding: string) => (response: Response) =>
	expect(response.headers.get('content-encoding')).toBe(encoding);
const hasStatus = (status: number) => (response: Response) => expect(response.status).toBe(status);

/** Takes the order, and loses the response. */
const lostOrder = { action: 'reset', accepted: true } as const;
/** Takes the order, and responds after the proxy has lost its patience. */
const lateOrder = { action: 'stall', accepted: true, seconds: 3 } as const;

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
		server: server({ ...tls('trusted'), listens: ' ssl http2' }),
	},
	{
		title: 'nginx: TLS, certificate of its own',
		scheme: 'https',
		server: server(tls('own')),
		...{ ends: unsent, says: /certificate of the gateway is not accepted.*NODE_EXTRA_CA_CERTS/ },
	},
	{
		title: 'nginx: body limit',
		server: server({ settings: ['client_max_body_size 20;'] }),
		...{ ends: withoutBodies(413), says: /413 .*too large for the service or for a proxy/ },
	},
	{
		title: 'nginx: Basic auth',
		server: server({ settings: ['auth_basic "Staff";', 'auth_basic_user_file nobody;'] }),
		shows: hasStatus(401),
		...{ ends: refused(401), says: /401 .*a login of its own.*API key is not the cause/i },
	},
	{
		title: 'nginx: rate limit, 429',
		server: server({ location: [...http11, 'limit_req zone=fast;', 'limit_req_status 429;'] }),
	},
	{
		title: 'nginx: rate limit, 503',
		server: server({ location: [...http11, 'limit_req zone=slow;'] }),
		shows: hasStatus(200),
		letsSomePass: true,
		...{ ends: proxied(503), says: /503 Service Temporarily Unavailable.*/ },
	},
	{
		title: 'nginx: gateway is down, 502',
		server: server({}),
		isDown: true,
		...{ ends: proxied(502), says: /502 Bad Gateway.*/ },
	},
	{
		title: 'nginx: gateway loses the response, 502',
		server: server({}),
		fault: lostOrder,
		...{ ends: proxied(502), says: /502 Bad Gateway.*/ },
	},
	{
		title: 'nginx: gateway is late, 504',
		server: server({ location: [...http11, 'proxy_read_timeout 500ms;'] }),
		fault: lateOrder,
		...{ ends: proxied(504), says: /504 Gateway Time-out.*/ },
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
	limit_req_zone $server_port zone=fast:1m rate=10r/s;
	limit_req_zone $server_port zone=slow:1m rate=1r/m;
	${servers.join('\n')}
}
`;
	const file = path.join(folder, 'nginx.conf');
	writeFileSync(file, config);
	writeFileSync(path.join(folder, 'nobody'), '');
	return ['nginx', ['-e', 'stderr', '-p', folder, '-c', file]];
}
