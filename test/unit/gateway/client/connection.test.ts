import { maySendKeyTo } from '../../../../nodes/shared/gateway/client/connection';

/** The addresses of a text, without the spaces between them. */
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
