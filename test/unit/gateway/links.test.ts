import { isLoopback, linkProblem, publicLinkProblem } from '../../../nodes/shared/gateway/links';

const gateway = 'https://gateway.example';
const localGateway = 'http://127.0.0.1:8080/gateway';

describe('links that the gateway can fetch', () => {
	it.each([
		'https://firm.example/cat.png',
		'https://firm.example:8443/a%20b.png?X-Signature=a%2Fb&x=1#part',
		'HTTPS://FIRM.EXAMPLE/CAT.PNG',
		'https://8.8.8.8/cat.png',
		'https://[2606:4700::1111]/cat.png',
		'https://10.firm.example/cat.png',
		'https://localhost.firm.example/cat.png',
		'https://172.15.0.1/cat.png',
		'https://172.32.0.1/cat.png',
		'https://firm.example/kätzchen.png',
		'https://proxy.example/?url=https://firm.example/cat.png',
		'https://proxy.example/merge?urls=https://firm.example/a.png,https://firm.example/b.png',
		'https://archive.example/web/2020/https://firm.example/cat.png',
		'https://chart.example/?text=a|b&layers=red|https://firm.example/cat.png',
	])('accepts a public https link: %s', (link) => {
		expect(publicLinkProblem(link, gateway)).toBeUndefined();
	});

	// Node 20's URL.canParse rejects such hosts once it has been called often.
	it('accepts a link with an umlaut in its host after 20,000 other links were checked', () => {
		for (let count = 0; count < 20_000; count++) {
			publicLinkProblem(`https://firm.example/${count}`, gateway);
		}
		expect(publicLinkProblem('https://bücher.example/katze.png', gateway)).toBeUndefined();
	});
});

describe('links that the gateway cannot fetch', () => {
	it.each([
		'cat.png',
		'/files/cat.png',
		'//firm.example/cat.png',
		'firm.example/cat.png',
		'https://',
	])('refuses a text that is no link: "%s"', (link) => {
		expect(publicLinkProblem(link, gateway)).toBe(
			`must be a link that starts with https:// (it is "${link}")`,
		);
	});

	it('shortens a long text that is no link in the message', () => {
		expect(publicLinkProblem('a'.repeat(500), gateway)).toBe(
			`must be a link that starts with https:// (it is "${'a'.repeat(80)}")`,
		);
	});

	it.each([
		['http://firm.example/cat.png', 'http:'],
		['ftp://firm.example/cat.png', 'ftp:'],
		['s3://bucket/cat.png', 's3:'],
	])('refuses a link with another protocol than https: %s', (link, protocol) => {
		expect(publicLinkProblem(link, gateway)).toBe(
			`must be a public https link, and this one starts with ${protocol}//`,
		);
	});

	it('refuses an empty link', () => expect(publicLinkProblem('', gateway)).toBe('is empty'));

	it.each([
		'C:\\Users\\me\\cat.png',
		'c:/cat.png',
		'\\\\nas\\cat.png',
		'/home/me/cat.png',
		'/Users/me/cat.png',
		'~/cat.png',
		'file:///C:/cat.png',
	])('refuses a file path: %s', (path) => {
		expect(publicLinkProblem(path, gateway)).toBe(
			`is a path on a computer, not a link (it is "${path}"); upload the file, and give its public link`,
		);
	});

	it.each([
		'https://firm.example/a.png https://firm.example/b.png',
		'https://firm.example/a.png\nhttps://firm.example/b.png',
		'https://firm.example/a.png, https://firm.example/b.png',
		'https://firm.example/a.png?x=1,https://firm.example/b.png?x=1',
		'https://firm.example/a.png;http://firm.example/b.png',
		'https://firm.example/?of=https://firm.example/a.png https://firm.example/b.png',
	])('refuses several links in one field: %j', (text) => {
		expect(publicLinkProblem(text, gateway)).toBe('must be one link (it holds 2)');
		expect(publicLinkProblem(text, gateway, { multipleLinksHint: 'add another' })).toBe(
			'must be one link (it holds 2): add another',
		);
	});

	it.each([
		[
			'https://firm.example/my cat.png',
			'must have no space inside; write %20 for one in the name of a file',
		],
		['https://firm.example/\ncat.png', 'must have no line break inside'],
	])('refuses a link with a space or a line break inside: %j', (link, problem) => {
		expect(publicLinkProblem(link, gateway)).toBe(problem);
	});

	it.each([
		'https://example.com/cat.png',
		'HTTPS://WWW.EXAMPLE.ORG/CAT.PNG',
		'https://a.b.example.net./cat.png',
		'https://example.com:8443',
	])('refuses a link to the host of an example: %s', (link) => {
		expect(publicLinkProblem(link, gateway)).toBe(
			`is only an example; put in the link to a file of your own (it is "${link}")`,
		);
	});

	it.each(['https://myexample.com/', 'https://example.com.pictures.io/', 'https://example.co/'])(
		'accepts a host that only contains the name of one of examples: %s',
		(link) => expect(publicLinkProblem(link, gateway)).toBeUndefined(),
	);

	it('takes a data URL of an image only where a field takes one', () => {
		const takesDataUrl = true;
		const image = 'data:image/png;base64,iVBORw0KGgo=';
		expect(publicLinkProblem(image, gateway, { takesDataUrl })).toBeUndefined();
		for (const other of [
			'data:text/plain,data:image/png',
			'x:data:image/png',
			'xhttps://a.b/c',
			'https-x://a.b/c',
		])
			expect(publicLinkProblem(other, gateway, { takesDataUrl })).toBe(
				'must be an https link or a data URL of an image',
			);
	});

	it('refuses a data URL', () => {
		expect(publicLinkProblem('data:image/png;base64,iVBORw0KGgo=', gateway)).toBe(
			'must be a public https link; a data URL is not taken',
		);
	});

	it.each([
		...['localhost', 'app.localhost', '127.0.0.1', '127.1', '2130706433', '[::1]', '0.0.0.0'],
		...['10.0.0.7', '172.16.0.1', '172.31.255.255', '192.168.1.5', '169.254.169.254'],
		...['[fd00::1]', '[fe80::1]', 'intranet', 'nas.local', 'db.internal', 'printer.LAN'],
	])('refuses a link to a private network: %s', (host) => {
		expect(publicLinkProblem(`https://${host}/cat.png`, gateway)).toMatch(
			/^must be a link that the gateway can fetch; .* is reachable from your own network only$/,
		);
	});
});

describe('share pages', () => {
	const drive = 'https://drive.google.com/uc?export=download&id=1aB_c-2';

	it.each([
		['https://drive.google.com/file/d/1aB_c-2/view?usp=sharing', 'Google Drive', drive],
		['https://drive.google.com/file/d/1aB_c-2/edit', 'Google Drive', drive],
		['https://drive.google.com/file/d/1aB_c-2', 'Google Drive', drive],
		['https://drive.google.com/file/u/1/d/1aB_c-2/preview', 'Google Drive', drive],
		['https://drive.google.com/a/firm.example/file/d/1aB_c-2/view', 'Google Drive', drive],
		['https://drive.google.com/open?id=1aB_c-2&usp=drive_copy', 'Google Drive', drive],
		[
			'https://drive.google.com/file/d/1aB_c-2/view?resourcekey=0-xy',
			...['Google Drive', `${drive}&resourcekey=0-xy`],
		],
		['https://docs.google.com/document/d/1aB_c-2/edit#heading=h.1', 'Google Docs', undefined],
		['https://docs.google.com/presentation/d/1aB_c-2/preview', 'Google Docs', undefined],
		[
			'https://www.dropbox.com/s/abc/cat.png?dl=0',
			...['Dropbox', 'https://www.dropbox.com/s/abc/cat.png?dl=1'],
		],
		[
			'https://www.dropbox.com/scl/fi/abc/cat.png?rlkey=xyz',
			...['Dropbox', 'https://www.dropbox.com/scl/fi/abc/cat.png?rlkey=xyz&dl=1'],
		],
		['https://1drv.ms/i/s!AbC', 'OneDrive', undefined],
		['https://onedrive.live.com/?id=A%21B&cid=A', 'OneDrive', undefined],
		['https://onedrive.live.com/embed?resid=A', 'OneDrive', undefined],
		['https://firm-my.sharepoint.com/:i:/g/personal/me/AbC?e=x', 'OneDrive', undefined],
		[
			'https://firm.sharepoint.com/sites/a/_layouts/15/stream.aspx?id=%2Fa.mp4',
			...['OneDrive', undefined],
		],
	])(
		'refuses a link to a share page, and the message says what to use instead: %s',
		(link, site, direct) => {
			const problem = `leads to a page of ${site}, not to the file: use ${direct ?? 'its download link'}`;
			expect(linkProblem(link)).toBe(problem);
			// The suggested link is accepted.
			if (direct) expect(publicLinkProblem(direct, gateway)).toBeUndefined();
		},
	);

	it.each([
		['https://drive.google.com/drive/folders/1aB?usp=sharing', 'Google Drive'],
		['https://drive.google.com/drive/u/0/folders/1aB', 'Google Drive'],
		['https://www.dropbox.com/scl/fo/abc/xyz?dl=0', 'Dropbox'],
		['https://www.dropbox.com/sh/abc/xyz', 'Dropbox'],
	])('refuses a link to a shared folder: %s', (link, site) => {
		expect(linkProblem(link)).toBe(`leads to a folder of ${site}: share the file itself`);
	});

	it.each([
		'https://drive.google.com/uc?export=download&id=1aB',
		'https://drive.google.com/uc?id=1aB',
		'https://drive.google.com/thumbnail?id=1aB&sz=w2000',
		'https://drive.usercontent.google.com/download?id=1aB&export=download',
		'https://lh3.googleusercontent.com/d/1aB',
		'https://docs.google.com/uc?export=download&id=1aB',
		'https://docs.google.com/presentation/d/1aB/export/png',
		'https://docs.google.com/drawings/d/1aB/pub?w=960',
		'https://www.dropbox.com/s/abc/cat.png?dl=1',
		'https://www.dropbox.com/scl/fi/abc/cat.png?rlkey=xyz&raw=1',
		'https://www.dropbox.com/s/dl/abc/cat.png',
		'https://dl.dropboxusercontent.com/s/abc/cat.png',
		'https://dl.dropbox.com/s/abc/cat.png',
		'https://onedrive.live.com/download?resid=A',
		'https://onedrive.live.com/download.aspx?cid=A',
		'https://firm.sharepoint.com/:i:/g/AbC?e=x&download=1',
		'https://firm.sharepoint.com/sites/a/_layouts/15/download.aspx?share=x',
		'https://firm.sharepoint.com/sites/a/Shared%20Documents/cat.png',
		'https://firm.example/file/d/1aB/view',
		'https://constructor/file/d/1aB/view',
	])('accepts a direct link to a file: %s', (link) => expect(linkProblem(link)).toBeUndefined());
});

describe('links with any protocol allowed', () => {
	it.each([
		'data:image/png;base64,AA\nBB',
		's3://bucket/cat.png',
		'asset-1',
		'HTTPS://FIRM.EXAMPLE/cat.png',
	])('accepts a link with any protocol where the service may take it: %s', (link) => {
		expect(publicLinkProblem(link, gateway, { anyProtocol: true })).toBeUndefined();
	});

	it.each([
		['', 'is empty'],
		[
			'https://localhost/cat.png',
			'must be a link that the gateway can fetch; localhost is reachable from your own network only',
		],
		[
			'http://firm.example/cat.png',
			'must be a public https link, and this one starts with http://',
		],
	])(
		'refuses a web link that cannot be fetched, even where any protocol is allowed: "%s"',
		(link, problem) => {
			expect(publicLinkProblem(link, gateway, { anyProtocol: true })).toBe(problem);
		},
	);
});

describe('a gateway on this machine', () => {
	it.each(['http://127.0.0.1:5678/cat.png', 'http://localhost/cat.png', 'https://[::1]/cat.png'])(
		'accepts a link to this machine when the gateway runs on it: %s',
		(link) => {
			expect(publicLinkProblem(link, localGateway)).toBeUndefined();
		},
	);

	it.each(['http://192.168.1.5/cat.png', 'http://firm.example/cat.png', 'cat.png'])(
		'refuses http links to other machines and texts that are no link, even with a local gateway: %s',
		(link) => {
			expect(publicLinkProblem(link, localGateway)).toBeDefined();
		},
	);
});

describe('loopback addresses', () => {
	it.each(['http://localhost', 'https://127.0.0.1:1/a', 'http://[::1]', 'http://a.localhost'])(
		'recognises %s as an address of this machine',
		(address) => expect(isLoopback(address)).toBe(true),
	);

	it.each([
		'http://128.0.0.1',
		'http://localhost.example',
		'localhost',
		'',
		'http://127.0.0.1.example',
	])('does not take "%s" for an address of this machine', (address) =>
		expect(isLoopback(address)).toBe(false),
	);
});
