import { isLoopback, publicLinkProblem } from '../../nodes/shared/gateway/links';

const gateway = 'https://gateway.example';
const localGateway = 'http://127.0.0.1:8080/gateway';

describe('a link that the gateway can fetch', () => {
	it.each([
		'https://example.com/cat.png',
		'https://example.com:8443/a%20b.png?X-Signature=a%2Fb&x=1#part',
		'HTTPS://EXAMPLE.COM/CAT.PNG',
		'https://8.8.8.8/cat.png',
		'https://[2606:4700::1111]/cat.png',
		'https://10.example.com/cat.png',
		'https://localhost.example.com/cat.png',
		'https://172.15.0.1/cat.png',
		'https://172.32.0.1/cat.png',
		'https://example.com/kätzchen.png',
	])('%s', (link) => {
		expect(publicLinkProblem(link, gateway)).toBeUndefined();
	});

	// Node 20's URL.canParse refuses such hosts as soon as it has been called often enough.
	it('with an umlaut in its host, however many links were looked at before', () => {
		for (let count = 0; count < 20_000; count++) {
			publicLinkProblem(`https://example.com/${count}`, gateway);
		}
		expect(publicLinkProblem('https://bücher.example/katze.png', gateway)).toBeUndefined();
	});
});

describe('a link that it cannot fetch', () => {
	it.each([
		'',
		'cat.png',
		'/files/cat.png',
		'//example.com/cat.png',
		'example.com/cat.png',
		'https://',
	])('is none: "%s"', (link) => {
		expect(publicLinkProblem(link, gateway)).toBe(
			`must be a link that starts with https:// (it is "${link}")`,
		);
	});

	it('is shown in part only when it is long', () => {
		expect(publicLinkProblem('a'.repeat(500), gateway)).toBe(
			`must be a link that starts with https:// (it is "${'a'.repeat(80)}")`,
		);
	});

	it.each([
		['http://example.com/cat.png', 'http:'],
		['ftp://example.com/cat.png', 'ftp:'],
		['file:///home/me/cat.png', 'file:'],
		['s3://bucket/cat.png', 's3:'],
	])('has another protocol: %s', (link, protocol) => {
		expect(publicLinkProblem(link, gateway)).toBe(
			`must be a public https link, and this one starts with ${protocol}//`,
		);
	});

	it('carries the file itself', () => {
		expect(publicLinkProblem('data:image/png;base64,iVBORw0KGgo=', gateway)).toBe(
			'must be a public https link; a data URL is not taken',
		);
	});

	it.each([
		...['localhost', 'app.localhost', '127.0.0.1', '127.1', '2130706433', '[::1]', '0.0.0.0'],
		...['10.0.0.7', '172.16.0.1', '172.31.255.255', '192.168.1.5', '169.254.169.254'],
		...['[fd00::1]', '[fe80::1]', 'intranet', 'nas.local', 'db.internal', 'printer.LAN'],
	])('leads to this network: %s', (host) => {
		expect(publicLinkProblem(`https://${host}/cat.png`, gateway)).toMatch(
			/^must be a link that the gateway can fetch; .* is reachable from your own network only$/,
		);
	});
});

describe('a gateway on this machine', () => {
	it.each(['http://127.0.0.1:5678/cat.png', 'http://localhost/cat.png', 'https://[::1]/cat.png'])(
		'can fetch what this machine serves: %s',
		(link) => {
			expect(publicLinkProblem(link, localGateway)).toBeUndefined();
		},
	);

	it.each(['http://192.168.1.5/cat.png', 'http://example.com/cat.png', 'cat.png'])(
		'is told of other links as any gateway: %s',
		(link) => {
			expect(publicLinkProblem(link, localGateway)).toBeDefined();
		},
	);
});

describe('this machine', () => {
	it.each(['http://localhost', 'https://127.0.0.1:1/a', 'http://[::1]', 'http://a.localhost'])(
		'is %s',
		(address) => expect(isLoopback(address)).toBe(true),
	);

	it.each([
		'http://128.0.0.1',
		'http://localhost.example',
		'localhost',
		'',
		'http://127.0.0.1.example',
	])('is not "%s"', (address) => expect(isLoopback(address)).toBe(false));
});
