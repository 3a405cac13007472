import {
	mayFetchFrom,
	maySendKeyTo,
	mayShow,
} from '../../../../nodes/shared/service/client/connection';

const listOf = (text: string) => text.trim().split(/\s+/);

describe('addresses for the key', () => {
	const own = { baseUrl: 'https://host.example/gw', backupUrl: 'https://backup.example/b' };

	it.each(
		listOf(`
			https://host.example/gw/v1/models HTTPS://HOST.example:443/gw/v1/models?a=../..
			https://backup.example/b/ https://host.example/gw/a%20b/%E4%B8%96 /gw/v1 /gw/v.v
			https://host.example/gw/./v1 https://host.example/gw/a/../b /gw/a..b /gw/100%
		`),
	)('allows the key at %s, which is below the base URL', (address) => {
		const { href } = new URL(address, 'https://host.example');
		expect(maySendKeyTo(href, own)).toBe(true);
	});

	it.each(
		listOf(String.raw`
			/gw /gwx/v1 /GW/v1 /other /gw/../other /gw/%2e%2e/other /gw/.%2E/other /gw/..%2fother
			/gw/..%5cother /gw/%2e%2e%2fother /gw/..%252fother /gw\..\other /gw/%252e%252e/other
			/gw/%25252e%25252e%25252fother /gw/..;/other /gw/..%3b/other /gw/%%32%65%%32%65/other
			/gw/%c0%ae%c0%ae/other /gw/..%c0%afother /gw/%u002e./other /gw/x/..%2f..%2fother
			/gw//..%2f..%2fother /gw/%20../other /gw/..%00/other /gw/.%09./other
			/gw/%2525252525252e%2525252525252e/other //other.example/gw/v1
			https://host.example:8443/gw/v1 http://host.example/gw/v1 https://host.example./gw/v1
			https://user@host.example/gw/v1 https://:pw@host.example/gw/v1 data:text/plain,/gw/v1
			https://host.example@other.example/gw/v1 https://backup.example/gw/v1 /gw/%2e%2e
		`),
	)('keeps the key from %s, which a server may take for another place', (address) => {
		const { href } = new URL(address, 'https://host.example/gw/v1/models');
		expect(maySendKeyTo(href, own)).toBe(false);
	});

	it('allows the key anywhere on the host of a base URL without a path', () => {
		expect(maySendKeyTo('https://host.example/x', { baseUrl: 'https://host.example' })).toBe(true);
	});
});

describe('addresses of files', () => {
	const bases: Record<string, { baseUrl: string; backupUrl?: string }> = {
		public: { baseUrl: 'https://host.example/gw' },
		loopback: { baseUrl: 'http://127.0.0.1:8080/gw' },
		private: { baseUrl: 'http://10.0.0.5:8080' },
		named: { baseUrl: 'http://gateway:8080' },
		reserved: { baseUrl: 'http://169.254.1.2:8080' },
		backup: { baseUrl: 'https://host.example', backupUrl: 'http://192.168.1.5' },
	};

	it.each<[base: string, fetched: string, refused: string]>([
		[
			'public',
			'https://files.example/a https://host.example:99/a http://8.8.8.8/a',
			'http://localhost/a http://10.0.0.5/a http://169.254.169.254/a http://nas/a http://[::1]/a',
		],
		[
			'loopback',
			'https://files.example/a http://127.0.0.1:9000/a http://localhost/a http://[::1]:9/a',
			'http://10.0.0.5/a http://169.254.169.254/a http://nas.local/a http://0.0.0.0:9000/a',
		],
		[
			'private',
			'https://files.example/a http://10.0.0.5:8080/a http://192.168.1.9/a http://nas.local/a',
			'http://localhost:9000/a http://169.254.169.254/a http://100.100.100.200/a http://[fe80::1]/a',
		],
		['named', 'http://minio:9000/a http://172.16.0.9/a', 'http://127.0.0.1/a http://metadata/a'],
		[
			'reserved',
			'http://169.254.1.2:8080/a',
			'http://169.254.1.2/a http://169.254.169.254:8080/a http://10.0.0.1/a',
		],
		['backup', 'http://192.168.1.5/a http://10.0.0.1/a', 'http://127.0.0.1/a'],
	])('are reachable for a gateway whose address is %s', (base, fetched, refused) => {
		for (const address of listOf(fetched)) {
			expect([address, mayFetchFrom(address, bases[base])]).toEqual([address, true]);
		}
		for (const address of listOf(refused)) {
			expect([address, mayFetchFrom(address, bases[base])]).toEqual([address, false]);
		}
	});

	it('respond with texts that may be shown when they are public, or the gateway itself', () => {
		const shown = 'https://files.example/a http://127.0.0.1:8080/other';
		const hidden = 'http://127.0.0.1:9000/a http://localhost:8080/a http://[::1]/a';
		for (const address of listOf(shown)) expect(mayShow(address, bases.loopback)).toBe(true);
		for (const address of listOf(hidden)) expect(mayShow(address, bases.loopback)).toBe(false);
	});
});
