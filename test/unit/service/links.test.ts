import { linkProblem, publicLinkProblem } from '../../../nodes/shared/service/links';
import { words } from '../../../nodes/shared/service/words';

const gateway = 'https://gateway.example';
const localGateway = 'http://127.0.0.1:8080/gateway';

describe('links that the gateway can fetch', () => {
	it.each(
		words(`
			https://firm.example:8443/a%20b.png?X-Signature=a%2Fb&x=1#part HTTPS://FIRM.EXAMPLE/CAT.PNG
			https://[2606:4700::1111]/cat.png https://localhost.firm.example/cat.png
			https://firm.example/kätzchen.png https://proxy.example/?url=https://firm.example/cat.png
			https://proxy.example/merge?urls=https://firm.example/a.png,https://firm.example/b.png
			https://archive.example/web/2020/https://firm.example/cat.png
			https://chart.example/?text=a|b&layers=red|https://firm.example/cat.png
			https://myexample.com/ https://example.com.pictures.io/ https://example.co/
		`),
	)('are public, and start with https: %s', (link) => {
		expect(publicLinkProblem(link, gateway)).toBeUndefined();
	});

	// Node 20's URL.canParse rejects such hosts once it has been called often.
	it('may have an umlaut in their host after 20,000 other links were checked', () => {
		for (let count = 0; count < 20_000; count++) {
			publicLinkProblem(`https://firm.example/${count}`, gateway);
		}
		expect(publicLinkProblem('https://bücher.example/katze.png', gateway)).toBeUndefined();
	});
});

describe('links that the gateway cannot fetch', () => {
	const noLink = 'must be a link that starts with https://';
	const notPublic = 'must be a public https link, and this one starts with';
	const twoLinks = 'must be one link (it holds 2)';

	it.each([
		...['cat.png', '/files/cat.png', '//firm.example/cat.png', 'firm.example/a', 'https://'].map(
			(link) => [link, `${noLink} (it is "${link}")`],
		),
		['a'.repeat(500), `${noLink} (it is "${'a'.repeat(80)}")`],
		['http://firm.example/cat.png', `${notPublic} http://`],
		['s3://bucket/cat.png', `${notPublic} s3://`],
		['', 'is empty'],
		...['C:\\Users\\me\\cat.png', 'c:/cat.png', '\\\\nas\\cat.png', '/home/me/cat.png'].map(
			(path) => [path, expect.stringContaining('is a path on a computer, not a link')],
		),
		...['/Users/me/cat.png', '~/cat.png', 'file:///C:/cat.png'].map((path) => [
			path,
			`is a path on a computer, not a link (it is "${path}"); upload the file, and give its public link`,
		]),
		['https://firm.example/a.png\nhttps://firm.example/b.png', twoLinks],
		['https://firm.example/a.png, https://firm.example/b.png', twoLinks],
		['https://firm.example/a.png?x=1,https://firm.example/b.png?x=1', twoLinks],
		['https://firm.example/a.png;http://firm.example/b.png', twoLinks],
		['https://firm.example/?of=https://firm.example/a.png https://firm.example/b.png', twoLinks],
		['https://firm.example/\ncat.png', 'must have no line break or tab inside'],
		...[
			'HTTPS://WWW.EXAMPLE.ORG/CAT.PNG',
			'https://a.b.example.net./a',
			'https://example.com:8443',
		].map((link) => [
			link,
			`is only an example; put in the link to a file of your own (it is "${link}")`,
		]),
		['data:image/png;base64,iVBORw0KGgo=', 'must be a public https link; a data URL is not taken'],
		// More hosts: see addresses.test.ts.
		...['localhost', '127.1', '10.0.0.7', '169.254.169.254', '[fd00::1]', 'nas.local'].map(
			(host) => [
				`https://${host}/cat.png`,
				expect.stringMatching(
					/^must be a link that the gateway can fetch; .* is reachable from your own network only$/,
				),
			],
		),
	])('are refused with the reason: %j', (link, problem) => {
		expect(publicLinkProblem(link, gateway)).toEqual(problem);
	});

	it('are data URLs, unless a field takes those of images', () => {
		const problemOf = (link: string) => publicLinkProblem(link, gateway, { takesDataUrl: true });
		expect(problemOf('data:image/png;base64,iVBORw0KGgo=')).toBeUndefined();
		const others = ['data:text/plain,data:image/png', 'x:data:image/png'];
		for (const other of [...others, 'xhttps://a.b/c', 'https-x://a.b/c']) {
			expect(problemOf(other)).toBe('must be an https link or a data URL of an image');
		}
	});
});

describe('share pages', () => {
	const drive = 'https://drive.google.com/uc?export=download&id=1aB_c-2';
	const file = 'https://drive.google.com/file';

	it.each([
		[`${file}/d/1aB_c-2/view?usp=sharing`, 'Google Drive', drive],
		['https://drive.google.com/a/firm.example/file/d/1aB_c-2/view', 'Google Drive', drive],
		['https://drive.google.com/open?id=1aB_c-2&usp=drive_copy', 'Google Drive', drive],
		[`${file}/d/1aB_c-2/view?resourcekey=0-xy`, 'Google Drive', `${drive}&resourcekey=0-xy`],
		['https://docs.google.com/document/d/1aB_c-2/edit#heading=h.1', 'Google Docs', undefined],
		[
			'https://www.dropbox.com/s/abc/cat.png?dl=0',
			'Dropbox',
			'https://www.dropbox.com/s/abc/cat.png?dl=1',
		],
		[
			'https://www.dropbox.com/scl/fi/abc/cat.png?rlkey=xyz',
			'Dropbox',
			'https://www.dropbox.com/scl/fi/abc/cat.png?rlkey=xyz&dl=1',
		],
		['https://1drv.ms/i/s!AbC', 'OneDrive', undefined],
		['https://onedrive.live.com/?id=A%21B&cid=A', 'OneDrive', undefined],
		['https://firm-my.sharepoint.com/:i:/g/personal/me/AbC?e=x', 'OneDrive', undefined],
		[
			'https://firm.sharepoint.com/sites/a/_layouts/15/stream.aspx?id=%2Fa.mp4',
			'OneDrive',
			undefined,
		],
	])('are refused with what to use instead: %s', (link, site, direct) => {
		const instead = direct ?? 'its download link';
		expect(linkProblem(link)).toBe(`leads to a page of ${site}, not to the file: use ${instead}`);
		// The suggested link is accepted.
		if (direct) expect(publicLinkProblem(direct, gateway)).toBeUndefined();
	});

	it.each([
		['https://drive.google.com/drive/folders/1aB?usp=sharing', 'Google Drive'],
		['https://www.dropbox.com/scl/fo/abc/xyz?dl=0', 'Dropbox'],
		['https://www.dropbox.com/sh/abc/xyz', 'Dropbox'],
	])('of a folder are refused: %s', (link, site) => {
		expect(linkProblem(link)).toBe(`leads to a folder of ${site}: share the file itself`);
	});

	it.each(
		words(`
			https://drive.google.com/uc?id=1aB https://docs.google.com/uc?export=download&id=1aB
			https://drive.usercontent.google.com/download?id=1aB&export=download
			https://docs.google.com/presentation/d/1aB/export/png
			https://www.dropbox.com/scl/fi/abc/cat.png?rlkey=xyz&raw=1
			https://www.dropbox.com/s/dl/abc/cat.png https://dl.dropbox.com/s/abc/cat.png
			https://onedrive.live.com/download?resid=A https://onedrive.live.com/download.aspx?cid=A
			https://firm.sharepoint.com/:i:/g/AbC?e=x&download=1
			https://firm.sharepoint.com/sites/a/_layouts/15/download.aspx?share=x
			https://firm.example/file/d/1aB/view https://constructor/file/d/1aB/view
		`),
	)('do not include a direct link to a file: %s', (link) =>
		expect(linkProblem(link)).toBeUndefined(),
	);
});

it.each([
	['data:image/png;base64,AA\nBB', true],
	['s3://bucket/cat.png', true],
	['asset-1', true],
	['HTTPS://FIRM.EXAMPLE/cat.png', true],
	['', false],
	['https://localhost/cat.png', false],
	['http://firm.example/cat.png', false],
])('may have any protocol where the service may take it, but "%s": %s', (link, isTaken) => {
	const problem = publicLinkProblem(link, gateway, { anyProtocol: true });
	expect(problem === undefined).toBe(isTaken);
});

it.each([
	...['http://127.0.0.1:5678/a', 'http://localhost/a', 'https://[::1]/a'].map((link) => [
		link,
		true,
	]),
	...['http://192.168.1.5/a', 'http://firm.example/a', 'cat.png'].map((link) => [link, false]),
] as Array<[string, boolean]>)(
	'is fetched by a gateway on this machine, "%s": %s',
	(link, isFetched) => {
		expect(publicLinkProblem(link, localGateway) === undefined).toBe(isFetched);
	},
);
