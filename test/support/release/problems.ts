/** What can be wrong with a release, from texts that were read before. Each problem says what to do. */
import { linksOf } from '../pages/markdown';

interface Manifest {
	version: string;
	author: { name: string; email: string };
	homepage: string;
	repository: { url: string };
}

interface Lock {
	version: string;
	packages: Record<string, { version?: string }>;
}

/** The heading of an entry of the changelog, such as `## 1.0.0 - 2026-12-01`. */
const entries = /^## (\S+)(?: - (.*))?$/gm;

/** @param changelog in the form of Keep a Changelog, the newest entry first */
export function versionProblems(
	{ version }: Pick<Manifest, 'version'>,
	lock: Lock,
	changelog: string,
): string[] {
	const locked = [lock.version, lock.packages['']?.version].filter((own) => own !== version);
	const [[, newest] = []] = changelog.matchAll(entries);
	return [
		...(locked.length === 0
			? []
			: [`package-lock.json names ${locked[0]}, package.json ${version}: run npm install`]),
		...(newest === version
			? []
			: [`CHANGELOG.md names ${newest}, package.json ${version}: name the same version in both`]),
	];
}

/** Problems of the newest entry. @param today as in `2026-12-31` */
export function changelogProblems(changelog: string, today: string): string[] {
	const [entry, next] = changelog.matchAll(entries);
	if (entry === undefined) return [`CHANGELOG.md has no entry: add “## 1.0.0 - ${today}”`];
	const [heading, , date = ''] = entry;
	const text = changelog.slice(entry.index + heading.length, next?.index);
	const time = Date.parse(date);
	const isDate = !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === date;
	const versions = Array.from(changelog.matchAll(entries), ([, version]) => version);
	return [
		...versions
			.filter((version, index) => versions.indexOf(version) < index)
			.map((version) => `CHANGELOG.md has two entries of ${version}: join them`),
		...(isDate && date <= today ? [] : [`“${heading}” has no date up to ${today}: set the date`]),
		...(text.trim() === '' ? [`“${heading}” has no text: say what a user gets`] : []),
	];
}

/** @param tagged the commit that the tag of the version is at, if there is one */
export function tagProblems(version: string, tagged: string, head: string): string[] {
	return tagged === '' || tagged === head
		? []
		: [`the tag v${version} is at another commit: release a new version`];
}

/** @param files names of stored executions, such as `1.0.0-n8n-2.40.7-task.json` */
export function storedProblems(version: string, n8nVersions: string[], files: string[]): string[] {
	return n8nVersions
		.filter((n8n) => !files.some((name) => name.startsWith(`${version}-n8n-${n8n}-`)))
		.map((n8n) => `no executions of ${version} in n8n ${n8n}: run E2E_N8N=${n8n} npm run capture`);
}

/** @returns the values of package.json that the owner has not replaced yet */
export function placeholders({ author, homepage, repository }: Manifest): string[] {
	const values = {
		...{ 'author.name': author.name, 'author.email': author.email },
		...{ homepage, 'repository.url': repository.url },
	};
	return Object.entries(values)
		.filter(([, value]) => /model[ -]gateway[ -]nodes|\.example$/i.test(value))
		.map(
			([name, value]) =>
				`package.json has the placeholder “${value}” as ${name}: see “Before the first release” in docs/development/releasing.md`,
		);
}

/**
 * npm shows a relative link or picture of the README at the repository's newest commit.
 * @param files all files of the repository, as git knows them
 */
export function npmLinkProblems(readme: string, repository: string, files: string[]): string[] {
	const relative = linksOf(readme).filter((link) => !/^(https:|mailto:|#)/.test(link));
	const isThere = (file: string) =>
		files.some((name) => name === file || name.startsWith(`${file.replace(/\/$/, '')}/`));
	return [
		...relative
			.filter((link) => !isThere(decodeURIComponent(link.replace(/#.*/, '').replace(/^\.\//, ''))))
			.map((link) => `npm cannot show “${link}” of README.md: link to a file in the repository`),
		// npm knows how these show a file.
		...(/^git\+https:\/\/(github\.com|gitlab\.com|bitbucket\.org)\/[^/]+\/[^/]+$/.test(repository)
			? []
			: [`npm cannot link to files of ${repository}: set repository.url`]),
	];
}

/** @param report what `npm audit --json` printed */
export function advisoryProblems(report: string): string[] {
	const { metadata, vulnerabilities, message } = JSON.parse(report) as {
		metadata?: { vulnerabilities: { total: number } };
		vulnerabilities?: Record<string, { severity: string }>;
		message?: string;
	};
	if (metadata === undefined || vulnerabilities === undefined) {
		return [`could not be checked (${message}): run npm audit against another registry`];
	}
	return Object.entries(vulnerabilities).map(
		([name, { severity }]) => `${name} has a vulnerability (${severity}): update or remove it`,
	);
}

/** The tests of a file that failed, or the reason why none of them ran. */
export function failedTests(
	results: Array<{
		name: string;
		status: string;
		message: string;
		assertionResults: Array<{ status: string; fullName: string }>;
	}>,
	file: string,
): string[] {
	const result = results.find(({ name }) => name.endsWith(`/${file}`));
	if (result === undefined) return [`${file} did not run`];
	const failed = result.assertionResults.filter(({ status }) => status === 'failed');
	if (failed.length === 0 && result.status === 'passed') return [];
	const reasons = failed.length > 0 ? failed.map(({ fullName }) => fullName) : [result.message];
	return reasons.map((reason) => `“${reason}” failed: run npx jest ${file}`);
}
