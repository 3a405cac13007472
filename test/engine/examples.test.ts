import { loadImage } from '@napi-rs/canvas';
import { NodeHelpers, Workflow, type IDataObject, type INode } from 'n8n-workflow';
import {
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
	examplesFolder,
	costOf,
	listedCost,
	readExample,
	secondRunOf,
	settingsOf,
	withFolder,
	withSettings,
} from '../support/workflows/examples';
import { startGateway, type Gateway } from '../../gateway';
import { Renderer } from '../../gateway/rendering';
import { isKnownPackage, nodeTypes, runWorkflow, SimulatedTime } from '../harness';
import { earlierJob } from '../support/workflows/earlierJobs';
import { readMp4, type Mp4Facts } from '../support/files/mp4';
import { picture, sampleVideo } from '../support/data/samples';
import type { WorkflowJson } from '../harness/workflow';
import { credentialFor } from '../support/workflows/workflows';

const { getNodeOutputs, getNodeParameters, getNodeParametersIssues } = NodeHelpers;
const files = readdirSync(examplesFolder).filter((file) => file.endsWith('.json'));

/** The nodes of an example that cost money, and those before them. */
function paidNodesOf({ nodes, connections = {} }: WorkflowJson) {
	const targetsOf = (name: string) =>
		Object.entries(connections[name] ?? {}).flatMap(([type, lines]) =>
			lines.flatMap((line) => (line ?? []).map(({ node }) => ({ type, node }))),
		);
	const paid = new Set(
		nodes
			.filter(({ type }) => /\.(modelGateway|(lmChat|embeddings)ModelGateway)(Tool)?$/.test(type))
			// A sub-node works within the node to which it is connected.
			.flatMap(({ name }) => [
				name,
				...targetsOf(name).flatMap(({ type, node }) => (type === 'main' ? [] : [node])),
			]),
	);
	const before = new Set<string>();
	const leads = ({ name }: { name: string }) =>
		targetsOf(name).some(({ node }) => paid.has(node) || before.has(node));
	for (let size = -1; size < before.size;) {
		size = before.size;
		for (const node of nodes.filter(leads)) before.add(node.name);
	}
	return { paid, before };
}

describe.each(files)('%s', (file) => {
	const example = readExample(file);
	const nodes = example.nodes as INode[];
	// The harness has no AI nodes of n8n. Tests in test/e2e run the examples with such nodes.
	const known = nodes.filter(({ type }) => isKnownPackage(type));
	const descriptionOf = ({ type, typeVersion }: INode) =>
		nodeTypes.getByNameAndVersion(type, typeVersion).description;

	it.each(known)('has only known parameters in its node "$name"', (node) => {
		const description = descriptionOf(node);
		expect([description.version].flat()).toContain(node.typeVersion);

		// n8n drops unknown and hidden parameters when it opens a workflow.
		const { properties } = description;
		const kept = getNodeParameters(properties, node.parameters, true, false, node, description);
		expect(kept).toMatchObject(node.parameters);
		const opened = { ...node, parameters: kept ?? {} };
		expect(getNodeParametersIssues(properties, opened, description)).toBeNull();
	});

	it('uses only nodes of n8n and of this package', () => {
		const packages = ['n8n-nodes-base', '@n8n/n8n-nodes-langchain', 'n8n-nodes-model-gateway'];
		const others = nodes.filter(({ type }) => !packages.includes(type.replace(/\.[^.]*$/, '')));
		expect(others).toEqual([]);
	});

	it('connects only outputs and nodes that exist', () => {
		const names = nodes.map(({ name }) => name);
		expect(new Set(names).size).toBe(names.length);
		const connections = example.connections ?? {};
		const workflow = new Workflow({ nodes: known, connections, active: false, nodeTypes });
		for (const [name, targets] of Object.entries(connections)) {
			expect(names).toContain(name);
			for (const target of Object.values(targets).flat(2)) expect(names).toContain(target?.node);
			const node = workflow.getNode(name);
			if (node === null) continue;
			const outputs = getNodeOutputs(workflow, node, descriptionOf(node));
			const types = outputs.map((output) => (typeof output === 'string' ? output : output.type));
			for (const [type, lines] of Object.entries(targets)) {
				expect(lines).toHaveLength(types.filter((own) => own === type).length);
			}
		}
	});

	it('saves the execution progress if it waits for videos', () => {
		const waits = nodes.some(({ type }) => /modelGatewayWaitForVideo/.test(type));
		expect(example.settings).toEqual({
			executionOrder: 'v1',
			...(waits && { saveExecutionProgress: true }),
		});
	});

	it('has no setting before a paid node that only later nodes use', () => {
		const { paid, before } = paidNodesOf(example);
		if (!before.has('Your Settings')) return;
		const users = JSON.stringify(
			nodes.filter(({ name }) => name !== 'Your Settings' && (paid.has(name) || before.has(name))),
		);
		const isUsed = (name: string) =>
			new RegExp(`\\bjson\\.${name}\\b|"fieldToSplitOut":"${name}"`).test(users);
		const unused = Object.entries(settingsOf(example))
			// What a request brings is not a setting that a user corrects.
			.filter(([name, value]) => !String(value).startsWith('={{ $json.') && !isUsed(name))
			.map(([name]) => name);
		expect(unused).toEqual([]);
	});

	it('writes each file under a name that no other run gives, in a folder that is set where it is written', () => {
		/** The ID of a job, the time, or the number of a take, which is ordered once. */
		const isUnique =
			/\bjson\.(id|job_id|output\.task_id|take)\b|\$now\.toFormat\('yyyy-MM-dd-HHmmss/;
		for (const { parameters } of nodes.filter((node) => node.parameters.operation === 'write')) {
			const file = String(parameters.fileName);
			expect(file).toMatch(/^=\/home\/node\/\.n8n-files\//);
			expect(file).toMatch(new RegExp(`${isUnique.source}|\\$binary\\.data\\.fileName`));
		}
		for (const { type, parameters } of nodes) {
			const { fileName } = (parameters.options ?? {}) as IDataObject;
			// Without a name, it is the ID of the job.
			if (/modelGatewayWaitForVideo/.test(type)) expect(fileName ?? 'json.id').toMatch(isUnique);
		}
	});

	const orders = nodes.filter(
		({ type, parameters: { resource } }) =>
			/\.modelGateway(Tool)?$/.test(type) && /video|image/i.test(String(resource)),
	);

	it('says what another run orders, and orders a repeated list once or says why not', () => {
		const said = secondRunOf(example);
		if (orders.length === 0) return expect(said).toBeUndefined();
		const keys = orders.filter(({ parameters }) => {
			const { once } = (parameters.options ?? {}) as { once?: IDataObject };
			return once?.orderKey;
		});
		expect(said).toBe(keys.length > 0 ? 'nothing' : 'everything');
	});

	it('limits the orders of a day where no person presses a button for each', () => {
		const isStartedAlone = nodes.some(({ type }) =>
			/\.(schedule|form|mcp)Trigger$|\.webhook$/.test(type),
		);
		for (const { name, type, parameters } of orders) {
			if (!isStartedAlone && !type.endsWith('Tool')) continue;
			const { limits } = (parameters.options ?? {}) as { limits?: IDataObject };
			expect([name, limits?.maxOrdersPerDay]).toEqual([name, expect.any(Number)]);
		}
	});

	it('contains no secret, and nothing of the n8n where it was made', () => {
		expect(example).toEqual({
			...{ name: expect.any(String), nodes, connections: expect.any(Object) },
			...{ active: false, settings: expect.any(Object), pinData: {}, meta: {}, tags: [] },
		});
		for (const node of nodes) {
			expect(node).not.toHaveProperty('credentials');
			expect(node).not.toHaveProperty('webhookId');
			expect(node.id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
		}
		const text = readFileSync(path.join(examplesFolder, file), 'utf8');
		const links = text.match(/\bhttps?:\/\/[^\s"']+/g) ?? [];
		expect(links.filter((link) => !link.startsWith('https://example.com/'))).toEqual([]);
		expect(text).not.toMatch(/bearer |api_?key|\bsk-|localhost|127\.0\.0\.1/i);
	});
});

describe('runs with the settings of a user', () => {
	const renderer = new Renderer();
	let time: SimulatedTime;
	let gateway: Gateway;
	let folder: string;

	beforeEach(async () => {
		time = new SimulatedTime();
		gateway = await startGateway({
			jobSeconds: 0,
			render: async (spec) => await time.during(renderer.render(spec)),
		});
		folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'examples-')));
	});
	afterEach(async () => {
		await gateway.close();
		await time.end();
		rmSync(folder, { recursive: true });
	});
	afterAll(async () => await renderer.close());

	const link = (colour: string) => gateway.addMedia(`${colour}.png`, picture(colour), 'image/png');

	const run = async (file: string, settings: IDataObject) => {
		const example = withFolder(readExample(file), folder);
		return await runWorkflow(withSettings(example, settings), {
			credentials: credentialFor(gateway),
			filesFolder: folder,
		});
	};

	/** By the names of their files, with `job` for the ID of the job. */
	async function savedVideos(names = readdirSync(folder)): Promise<Record<string, Mp4Facts>> {
		const saved: Record<string, Mp4Facts> = {};
		const jobs = gateway.jobs.list();
		for (const name of names.toSorted()) {
			const named = jobs.reduce((text, { id }) => text.replace(id, 'job'), name);
			saved[named] = await readMp4(readFileSync(path.join(folder, name)));
		}
		return saved;
	}

	const mp4 = (width: number, height: number, seconds = 2) =>
		expect.objectContaining({ width, height, seconds, codec: expect.stringMatching(/^avc1\./) });

	it('runs collect-video-by-id.json without placing an order', async () => {
		const bytes = await sampleVideo('collected');
		const jobs = (['task', 'video'] as const).map((kind) => earlierJob(gateway, kind, bytes).id);
		const ids = ` ${jobs.join(',\n')} task_unknown `;
		const result = await run('collect-video-by-id.json', { job_ids: ids });

		expect(result.status).toBe('success');
		const saved = readdirSync(folder).sort();
		expect(saved).toEqual(jobs.map((id) => `${id}.mp4`).sort());
		for (const name of saved)
			expect(readFileSync(path.join(folder, name))).toEqual(Buffer.from(bytes));
		expect(result.items('Not Collected').map(({ json }) => json)).toEqual([
			{
				job: 'task_unknown',
				reason: expect.stringContaining('task_unknown'),
				what_to_do: expect.stringMatching(/\w/),
			},
		]);
		expect(gateway.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
		expect(gateway.ledger).toEqual([]);
	});

	it('runs product-videos-from-a-list.json with two products that fail', async () => {
		const file = 'product-videos-from-a-list.json';
		const products = settingsOf(readExample(file)).products as IDataObject[];
		const refused = { ...products[0], product: 'Refused', prompt: '[blocked]' };
		const broken = { ...products[1], product: 'Broken', prompt: '[fail]' };
		const own = { pictures: [link('green')], seconds: 2 };
		const all = [refused, ...products, broken].map((product) => ({ ...product, ...own }));
		const result = await run(file, { products: all });

		expect(result.status).toBe('success');
		expect(await savedVideos()).toEqual({
			'Desk Lamp-job.mp4': mp4(1280, 720),
			'Running Shoe-job.mp4': mp4(720, 720),
			'Travel Mug-job.mp4': mp4(720, 1280),
		});
		expect(gateway.ledger).toHaveLength(products.length + 1);
		const failed = [0, 1].flatMap((round) => result.items('Failed Products', { run: round }));
		expect(failed.map(({ json }) => json)).toEqual([
			{
				product: 'Broken',
				reason: expect.stringMatching(/^Video job .* failed: the prompt asked the job to fail$/),
				what_to_do: expect.stringContaining('create a new job'),
				job: expect.stringMatching(/^task_/),
			},
			{
				product: 'Refused',
				reason: expect.stringContaining('blocked by content moderation'),
				what_to_do: expect.stringContaining('Change the prompt'),
				job: 'none in this run',
			},
		]);
	});

	it('runs scheduled-daily-video.json although the first order is refused', async () => {
		const refusal = { status: 403, code: 'permission_denied' };
		gateway.fault({ route: 'videoCreate', action: 'error', ...refusal });
		const result = await run('scheduled-daily-video.json', {});

		expect(result.status).toBe('success');
		const { prompt } = result.items('Your Settings')[0].json;
		expect(prompt).toMatch(/It is \w+day, \d{1,2} \w+: /);
		const [[name, video]] = Object.entries(await savedVideos());
		expect(name).toMatch(/^good-morning-\d{4}-\d\d-\d\d-job\.mp4$/);
		expect(video).toEqual(mp4(1280, 720, 5));
		expect(gateway.requests.filter(({ route }) => route === 'videoCreate')).toHaveLength(2);
		expect(gateway.ledger).toHaveLength(1);
	});

	const charged = () => gateway.ledger.map(({ model }) => model).sort();

	it('runs support-mail-triage.json with an unclear mail and one that fails', async () => {
		const mail = (subject: string, text: string) => ({ from: 'ada@example.com', subject, text });
		const judged = (subject: string, answer: string) => mail(subject, `Help!\nsay ${answer}`);
		const result = await run('support-mail-triage.json', {
			mails: [
				judged('Broken', '{"category": "technical", "urgency": "high"}'),
				judged('Paid twice', 'Sure: {"category":"Billing","urgency":"LOW"} Anything else?'),
				judged('Odd', '{"category": "poetry"}'),
				mail('Vague', 'What the model says of this is no JSON.'),
				mail('Rude', '[blocked]'),
				judged('Forty lamps', '{"urgency": "normal", "category": "sales"}'),
			],
		});

		expect(result.status).toBe('success');
		const sorted = ['Billing', 'Technical', 'Sales', 'Unclear'].map((team) => [
			team,
			result.items(team).map(({ json }) => json),
		]);
		const row = (subject: string, category: string, urgency: string) => ({
			...{ from: 'ada@example.com', subject, category, urgency },
		});
		expect(Object.fromEntries(sorted)).toEqual({
			Billing: [row('Paid twice', 'billing', 'low')],
			Technical: [row('Broken', 'technical', 'high')],
			Sales: [row('Forty lamps', 'sales', 'normal')],
			Unclear: [row('Odd', 'poetry', 'normal'), row('Vague', 'unclear', 'normal')],
		});
		expect(result.items('Failed Mails').map(({ json }) => json)).toEqual([
			{
				subject: 'Rude',
				reason: expect.stringContaining('blocked by content moderation'),
				what_to_do: expect.stringContaining('Change the prompt'),
			},
		]);
		expect(charged()).toEqual(Array(5).fill('chat-1'));
	});

	it('runs product-pictures.json with one failing product at each step', async () => {
		const file = 'product-pictures.json';
		const [mug, other] = settingsOf(readExample(file)).products as IDataObject[];
		const lamp: IDataObject = { ...other, product: 'Lamp 1/2' };
		const refused = { ...mug, product: 'Refused', look: '[blocked]' };
		const alone = { ...mug, product: 'Without Scene', scene: '[blocked]' };
		const result = await run(file, {
			products: [refused, mug, alone, lamp],
			size: '1024x1792',
		});

		expect(result.status).toBe('success');
		expect(readdirSync(folder).sort()).toEqual([
			expect.stringMatching(/^Lamp 1-2-\d{4}-\d\d-\d\d-\d{6}-2\.png$/),
			expect.stringMatching(/^Travel Mug-\d{4}-\d\d-\d\d-\d{6}-1\.png$/),
		]);
		for (const name of readdirSync(folder)) {
			const { width, height } = await loadImage(readFileSync(path.join(folder, name)));
			expect([width, height]).toEqual([1024, 1792]);
		}
		// Each edit starts from the drawing of its own product.
		const drawn = await Promise.all(
			result.items('Draw Product').map(async (item) => await result.binary(item)),
		);
		const edits = gateway.requests.filter(({ route }) => route === 'imageEdit');
		for (const [index, { scene }] of [mug, alone, lamp].entries()) {
			const edit = edits.find(({ body }) => (body as IDataObject).prompt === scene);
			const { image } = edit?.body as { image: { bytes: Uint8Array } };
			expect(drawn[index].equals(image.bytes)).toBe(true);
		}
		const failed = [0, 1].flatMap((round) => result.items('Failed Products', { run: round }));
		expect(failed.map(({ json }) => json.product).sort()).toEqual(['Refused', 'Without Scene']);
		for (const { json } of failed) expect(json.reason).toContain('content moderation');
		expect(charged()).toEqual(
			[...Array<string>(3).fill('image-1'), ...Array<string>(2).fill('image-edit-1')].sort(),
		);
	});

	it('runs semantic-search.json unchanged, and with a refused document', async () => {
		const file = 'semantic-search.json';
		const found = (result: Awaited<ReturnType<typeof run>>) =>
			result.items('Best Documents').map(({ json }) => json);
		expect(found(await run(file, {}))).toEqual([
			{
				title: 'Refunds',
				text: expect.stringContaining('money back'),
				score: expect.any(Number),
			},
		]);
		expect(gateway.requests).toHaveLength(2);
		expect(charged()).toEqual(['embed-1', 'embed-1']);

		const documents = settingsOf(readExample(file)).documents as IDataObject[];
		const bad = { title: 'Bad', text: '[blocked]' };
		const question = 'When is the shop open on Saturday?';
		const result = await run(file, { documents: [bad, ...documents], question });
		expect(result.status).toBe('success');
		const best = result.items('Best First').map(({ json }) => json);
		expect(found(result)).toEqual([best[0]]);
		expect(best[0].title).toBe('Opening hours');
		expect(best).toHaveLength(4);
		const scores = best.map(({ score }) => score as number);
		expect(scores).toEqual([...scores].sort((a, b) => b - a));
		expect(scores[0]).toBeLessThan(1);
		expect(result.items('Skipped Documents').map(({ json }) => json.title)).toEqual(['Bad']);

		const same = 'Delivery: Tomorrow';
		const exact = { documents: [{ title: 'Delivery', text: 'Tomorrow' }], question: same };
		expect(found(await run(file, exact))[0].score).toBeCloseTo(1, 5);
	});

	it('runs alt-texts-for-pictures.json with a broken image, and skips a text file', async () => {
		const save = (name: string, bytes: Uint8Array | string) =>
			writeFileSync(path.join(folder, name), bytes);
		save('blue.png', picture('blue'));
		save('broken.jpg', 'No picture');
		save('notes.txt', 'No picture either');
		save('Red.PNG', picture('red'));
		const result = await run('alt-texts-for-pictures.json', { language: 'Welsh' });

		expect(result.status).toBe('success');
		const tables = readdirSync(folder).filter((name) =>
			/^alt-texts-\d{4}-\d\d-\d\d-\d{6}\.csv$/.test(name),
		);
		expect(tables).toHaveLength(1);
		const table = readFileSync(path.join(folder, tables[0]), 'utf8');
		expect(table.split('\n')[0]).toMatch(/^\ufeff?file,alt_text,problem,what_to_do/);
		const rows = result.items('One Row per Picture').map(({ json }) => json);
		expect(rows).toHaveLength(3);
		for (const colour of ['blue', 'Red']) {
			const row = rows.find(({ file }) => String(file).startsWith(colour));
			expect(row).toMatchObject({ problem: '', what_to_do: '' });
			expect(row?.alt_text).toContain(`mostly ${colour.toLowerCase()}`);
			expect(table).toContain(String(row?.file));
		}
		const broken = rows.find(({ file }) => file === 'broken.jpg');
		expect(broken).toMatchObject({ alt_text: '', problem: expect.stringMatching(/image/) });
		expect(broken?.what_to_do).toMatch(/\w/);
		expect(table).toContain(`broken.jpg,,`);
		const [{ body }] = gateway.requests;
		expect(JSON.stringify(body)).toContain('in Welsh');
		expect(charged()).toEqual(['chat-1', 'chat-1']);
	});

	it.each([
		['no JSON at all', 'I would rather not.'],
		['broken JSON', '{"cover": A boat}'],
	])(
		'draws nothing in podcast-cover-and-teaser.json when the model answers with %s',
		async (_, answer) => {
			gateway.script(answer);
			const result = await run('podcast-cover-and-teaser.json', {});
			expect(result.status).toBe('error');
			expect(result.errorOf('Draw Cover')?.message).toBe('Prompt is empty');
			expect(charged()).toEqual(['chat-1']);
		},
	);

	it('runs storyboard-of-scenes.json, and orders only the new take in a second run', async () => {
		const file = 'storyboard-of-scenes.json';
		const written = settingsOf(readExample(file)).scenes as IDataObject[];
		const scenes = written.map((scene) => ({ ...scene, seconds: 2 }));
		const pictures = [link('red'), link('blue')];
		const broken = { scene: '04', take: 1, seconds: 2, prompt: '[fail]' };
		const workflowId = 'storyboard';
		const shoot = async (own: IDataObject[]) => {
			const settings = { film: 'film', pictures, scenes: own };
			const example = withSettings(withFolder(readExample(file), folder), settings);
			return await runWorkflow(
				{ ...example, id: workflowId },
				{ credentials: credentialFor(gateway), filesFolder: folder },
			);
		};
		const first = await shoot([...scenes, broken]);
		expect(first.status).toBe('success');
		const clips = ['film-01-take-1.mp4', 'film-02-take-1.mp4', 'film-03-take-1.mp4'];
		expect(await savedVideos(clips)).toEqual(
			Object.fromEntries(clips.map((name) => [name, mp4(1280, 720)])),
		);
		expect(readFileSync(path.join(folder, 'film.txt'), 'utf8')).toBe(
			[...clips, 'film-04-take-1.mp4'].map((name) => `file '${name}'`).join('\n'),
		);
		expect(first.items('Failed Scenes').map(({ json }) => json)).toEqual([
			{
				scene: '04',
				reason: expect.stringContaining('asked the job to fail'),
				what_to_do: expect.any(String),
				job: expect.stringMatching(/^task_/),
			},
		]);
		expect(gateway.ledger).toHaveLength(4);
		const medium = (url: string) => ({ type: 'reference_image', url });
		for (const { body } of gateway.requests.filter(
			({ route }) => route === 'referenceVideoCreate',
		)) {
			expect(body).toMatchObject({ input: { media: pictures.map(medium) } });
		}

		const again = await shoot([...scenes, { ...broken, take: 2, prompt: 'The hero sails away' }]);
		expect(again.status).toBe('success');
		expect(again.items('Wait for Clips')).toHaveLength(1);
		const clip = 'film-04-take-2.mp4';
		expect(await savedVideos([clip])).toEqual({ [clip]: mp4(1280, 720) });
		expect(gateway.ledger).toHaveLength(5);
	});
});

it.each([
	'failed-items-to-order-again.json',
	'one-execution-per-video.json',
	'scheduled-list-with-approval.json',
])('%s costs one video for each line, as the list of examples says', (file) => {
	const { videos } = settingsOf(readExample(file)) as { videos: unknown[] };
	expect(listedCost(file)).toBe(`${videos.length} videos`);
});

describe('run twice', () => {
	let time: SimulatedTime;
	let gateway: Gateway;
	let folder: string;

	beforeAll(async () => {
		time = new SimulatedTime();
		const video = await sampleVideo();
		gateway = await startGateway({ jobSeconds: 0, render: async () => video });
	});
	beforeEach(() => (folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'examples-')))));
	afterEach(() => rmSync(folder, { recursive: true }));
	afterAll(async () => {
		await gateway.close();
		await time.end();
	});

	it.each([
		'from-http-request-to-model-gateway.json',
		'podcast-cover-and-teaser.json',
		'product-pictures.json',
		'product-videos-from-a-list.json',
		'reference-video-to-file.json',
		'scheduled-daily-video.json',
		'semantic-search.json',
		'storyboard-of-scenes.json',
		'storyboard-to-video.json',
		'support-mail-triage.json',
	])(
		'%s costs what the list of examples says, orders again what its note says, and keeps all files',
		async (file) => {
			const example = withFolder(readExample(file), folder);
			const text = JSON.stringify(example).replace(
				/https:\/\/example\.com\/[\w-]+\.(png|jpg)/g,
				gateway.addMedia('green.png', picture('green'), 'image/png'),
			);
			const ready = { ...(JSON.parse(text) as WorkflowJson), id: file };
			const costs: string[] = [];
			const files: number[] = [];
			for (let time = 0; time < 2; time++) {
				const before = gateway.ledger.length;
				gateway.script('{"cover": "A lighthouse in fog", "teaser": "Its light turns"}');
				const run = { credentials: credentialFor(gateway), filesFolder: folder };
				expect((await runWorkflow(ready, run)).status).toBe('success');
				costs.push(costOf(gateway.ledger.slice(before)));
				files.push(readdirSync(folder).length);
				// Nobody runs it twice within a second.
				await new Promise((resolve) => globalThis.setTimeout(resolve, 60_000));
			}
			const isOnce = secondRunOf(example) === 'nothing';
			expect(costs).toEqual([listedCost(file), isOnce ? 'nothing' : costs[0]]);
			expect(files[1]).toBe(isOnce ? files[0] : 2 * files[0]);
		},
	);
});
