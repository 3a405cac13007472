/** A page that shows a file or a folder in a browser, as the share dialogs of storage services give it. */
interface SharePage {
	site: string;
	/** The link to the file itself, if that of the page tells it. */
	direct?: string;
	isFolder?: boolean;
}

/** Why a link to a share page does not lead to a file; continues the field's name. */
export function sharePageProblem(url: URL): string | undefined {
	const page = googlePage(url) ?? dropboxPage(url) ?? oneDrivePage(url);
	if (page === undefined) return undefined;
	const { site, direct, isFolder } = page;
	return isFolder
		? `leads to a folder of ${site}: share the file itself`
		: `leads to a page of ${site}, not to the file: use ${direct ?? 'its download link'}`;
}

/** The path may begin with the domain of a company; after the kind, there may be the number of an account. */
const googleFile =
	/^(?:\/a\/[\w.-]+)?\/(\w+)\/(?:u\/\d+\/)?d\/([\w-]+)(?:\/(?:view|edit|preview|copy|htmlview)?)?$/;

function googlePage({ hostname, pathname, searchParams }: URL): SharePage | undefined {
	if (!/^(drive|docs)\.google\.com$/.test(hostname)) return undefined;
	const site = hostname === 'docs.google.com' ? 'Google Docs' : 'Google Drive';
	if (/^\/drive\/.*folders\//.test(pathname)) return { site, isFolder: true };
	const [, kind = 'file', idInPath] = googleFile.exec(pathname) ?? [];
	const id = idInPath ?? (pathname === '/open' ? searchParams.get('id') : null);
	if (id === null) return undefined;
	if (kind !== 'file') return { site };
	const resourceKey = searchParams.get('resourcekey');
	const more = resourceKey === null ? '' : `&resourcekey=${resourceKey}`;
	return { site, direct: `https://drive.google.com/uc?export=download&id=${id}${more}` };
}

function dropboxPage({ hostname, pathname, searchParams, href }: URL): SharePage | undefined {
	const isPage =
		/^(www\.)?dropbox\.com$/.test(hostname) && /^\/(s|sh|scl)\/(?!dl\/)/.test(pathname);
	const isDirect = searchParams.get('dl') === '1' || searchParams.get('raw') === '1';
	if (!isPage || isDirect) return undefined;
	const site = 'Dropbox';
	if (/^\/(sh|scl\/fo)\//.test(pathname)) return { site, isFolder: true };
	const direct = new URL(href);
	direct.searchParams.set('dl', '1');
	return { site, direct: direct.href };
}

function oneDrivePage({ hostname, pathname, searchParams }: URL): SharePage | undefined {
	if (searchParams.get('download') === '1') return undefined;
	const isPage =
		hostname === '1drv.ms' ||
		(hostname === 'onedrive.live.com' && !/^\/download/i.test(pathname)) ||
		(hostname.endsWith('.sharepoint.com') &&
			/^\/:\w:\/|\/_layouts\/15\/(?!download\.)\w+\.aspx$/i.test(pathname));
	return isPage ? { site: 'OneDrive' } : undefined;
}
