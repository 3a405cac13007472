import {
	advisoryProblems,
	changelogProblems,
	failedTests,
	npmLinkProblems,
	placeholders,
	storedProblems,
	tagProblems,
	versionProblems,
} from '../../support/release/problems';

const changelog =
	'# Changelog\n\n## 1.0.0 - 2026-12-01\n\nText.\n\n## 0.9.0 - 2026-11-01\n\nText.\n';
const lock = (version: string, own = version) => ({ version, packages: { '': { version: own } } });

describe('the version of a release', () => {
	it('is the same in package.json, in both places of the lock file and in the newest entry', () => {
		expect(versionProblems({ version: '1.0.0' }, lock('1.0.0'), changelog)).toEqual([]);
	});

	it('is a problem in each file that names another one', () => {
		expect(versionProblems({ version: '0.1.0' }, lock('0.1.0'), changelog)).toEqual([
			'CHANGELOG.md names 1.0.0, package.json 0.1.0: name the same version in both',
		]);
		for (const other of [lock('0.9.0'), lock('1.0.0', '0.9.0')])
			expect(versionProblems({ version: '1.0.0' }, other, changelog)).toEqual([
				'package-lock.json names 0.9.0, package.json 1.0.0: run npm install',
			]);
	});

	it('has no tag yet, or one at the commit that is released', () => {
		expect(tagProblems('1.0.0', '', 'abc')).toEqual([]);
		expect(tagProblems('1.0.0', 'abc', 'abc')).toEqual([]);
		expect(tagProblems('1.0.0', 'abc', 'def')).toEqual([
			'the tag v1.0.0 is at another commit: release a new version',
		]);
	});
});

describe('the newest entry of the changelog', () => {
	const problems = (text: string) => changelogProblems(text, '2026-12-01');

	it('has a text, and a date that has come', () => {
		expect(problems(changelog)).toEqual([]);
	});

	it.each(['', ' - Unreleased', ' - 2026-12-02', ' - 2026-13-01', ' - 2026-02-31', ' - 2026'])(
		'is not ready as “## 1.0.0%s”',
		(date) => {
			expect(problems(`## 1.0.0${date}\n\nText.\n`)).toEqual([
				`“## 1.0.0${date}” has no date up to 2026-12-01: set the date`,
			]);
		},
	);

	it('is the only one of its version', () => {
		expect(problems(changelog + changelog)).toEqual([
			'CHANGELOG.md has two entries of 1.0.0: join them',
			'CHANGELOG.md has two entries of 0.9.0: join them',
		]);
	});

	it('is not ready without a text, or where it is missing', () => {
		expect(problems(changelog.replace('Text.', ''))).toEqual([
			'“## 1.0.0 - 2026-12-01” has no text: say what a user gets',
		]);
		expect(problems('# Changelog\n')).toHaveLength(1);
	});
});

it('a release has stored executions in each version of n8n', () => {
	const problems = (...files: string[]) => storedProblems('1.0.0', ['1.123.81', '2.40.7'], files);
	const files = ['1.0.0-n8n-1.123.81-task.json', '1.0.0-n8n-2.40.7-task.json'];
	expect(problems(...files)).toEqual([]);
	expect(problems(files[0], '0.9.0-n8n-2.40.7-task.json')).toEqual([
		'no executions of 1.0.0 in n8n 2.40.7: run E2E_N8N=2.40.7 npm run capture',
	]);
});

describe('package.json', () => {
	const own = {
		...{ version: '1.0.0', author: { name: 'Ada', email: 'ada@example.org' } },
		homepage: 'https://github.com/ada/n8n-nodes-model-gateway#readme',
		repository: { url: 'git+https://github.com/ada/n8n-nodes-model-gateway.git' },
	};

	it('is ready with values of its owner', () => {
		expect(placeholders(own)).toEqual([]);
	});

	it('names each placeholder that is left', () => {
		const left = { ...own, author: { ...own.author, email: 'someone@firm.example' } };
		expect(placeholders(left)).toEqual([expect.stringContaining('as author.email')]);
	});
});

describe('README.md on npm', () => {
	const repository = 'git+https://github.com/ada/nodes.git';
	const files = ['README.md', 'docs/a.md', 'docs/pictures/a.png'];
	const problems = (text: string) => npmLinkProblems(text, repository, files);

	it('shows files and folders of the repository, anchors, and addresses of the web', () => {
		const links = ['docs/a.md#part', './docs', '#part', 'https://n8n.io', 'mailto:a@b.org'];
		expect(problems(links.map((link) => `[x](${link})`).join(' '))).toEqual([]);
		expect(problems('![x](docs/pictures/a.png)')).toEqual([]);
	});

	it.each(['docs/b.md', '/docs/a.md', '../nodes/docs/a.md', 'Docs/a.md', 'http://n8n.io', 'do'])(
		'cannot show %s',
		(link) => {
			expect(problems(`[x](${link})`)).toEqual([expect.stringContaining(`“${link}”`)]);
		},
	);

	it('needs a repository at a host that npm knows', () => {
		expect(npmLinkProblems('', 'git+https://git.firm.org/nodes.git', files)).toHaveLength(1);
	});
});

describe('npm audit', () => {
	const report = (vulnerabilities: object) =>
		JSON.stringify({ vulnerabilities, metadata: { vulnerabilities: { total: 0 } } });

	it('names each package with a vulnerability', () => {
		expect(advisoryProblems(report({}))).toEqual([]);
		expect(advisoryProblems(report({ lodash: { severity: 'high' } }))).toEqual([
			'lodash has a vulnerability (high): update or remove it',
		]);
	});

	it('is no pass where the registry does not answer', () => {
		const [problem] = advisoryProblems(JSON.stringify({ message: '405 Method Not Allowed' }));
		expect(problem).toContain('could not be checked (405 Method Not Allowed)');
	});
});

describe('the tests of a release', () => {
	const result = (status: string, titles: string[] = [], message = '') => [
		{
			...{ name: '/home/a/test/unit/a.test.ts', status, message },
			assertionResults: titles.map((fullName) => ({ status, fullName })),
		},
	];
	const problems = (results: ReturnType<typeof result>) =>
		failedTests(results, 'test/unit/a.test.ts');

	it('are a problem by their titles', () => {
		expect(problems(result('passed', ['reads a file']))).toEqual([]);
		expect(problems(result('failed', ['reads a file', 'writes it']))).toEqual([
			'“reads a file” failed: run npx jest test/unit/a.test.ts',
			'“writes it” failed: run npx jest test/unit/a.test.ts',
		]);
	});

	it('are a problem where the file did not load or did not run', () => {
		expect(problems(result('failed', [], 'SyntaxError'))).toHaveLength(1);
		expect(problems([])).toEqual(['test/unit/a.test.ts did not run']);
	});
});
