import type { IBinaryData, IDataObject } from 'n8n-workflow';
import { isDeepStrictEqual } from 'node:util';
import { UploadedFile } from '../../gateway/files';
import { corpus, type CorpusFile } from '../n8n/corpus';
import { having } from '../n8n/features';
import { itemsOf, type Execution } from '../n8n/owner';
import {
	byId,
	chain,
	core,
	createVideo,
	modelGateway,
	to,
	waitForVideo,
	type Node,
} from '../support/workflows/workflows';
import { openStage, type Stage } from './support/stage';
import { wanted, type Result, type Verdict } from './support/wantedFiles';

/** How a file is declared to n8n. `skipping`: named `.jpg`, and sent with Skip Checks. */
const ways = ['own', 'unknown', 'jpeg', 'skipping'] as const;
type Way = (typeof ways)[number];

const images = { values: [{ source: 'binary', binaryField: 'data' }] };
const options = { parallelRequests: 20, skipChecks: '={{ $json.skipping }}' };
const referenceVideo = (type: string): IDataObject => ({
	...{ resource: 'referenceVideo', operation: 'create', model: byId('beta-2.7-r2v') },
	media: { values: [{ type, source: 'binary', binaryField: 'data' }] },
	options: { ...options, duration: 2 },
});

/** Each use of a file in a request, by the name of its node. */
const uses: Record<string, { slot: 'picture' | 'video'; parameters: IDataObject }> = {
	'Reference Image': { slot: 'picture', parameters: referenceVideo('reference_image') },
	'First Frame': { slot: 'picture', parameters: referenceVideo('first_frame') },
	'Reference Video': { slot: 'video', parameters: referenceVideo('reference_video') },
	'Edited Image': {
		slot: 'picture',
		parameters: {
			...{ resource: 'image', operation: 'edit', model: byId('image-edit-1') },
			...{ download: false, options },
		},
	},
	'Image of a Chat': {
		slot: 'picture',
		parameters: {
			...{ resource: 'chat', operation: 'complete', model: byId('chat-1'), options },
			messages: {
				values: [{ role: 'user', content: '={{ $json.prompt }} Image of a Chat', images }],
			},
		},
	},
	'Image Chat': {
		slot: 'picture',
		parameters: {
			...{ resource: 'image', operation: 'chat', model: byId('image-chat-1'), images },
			...{ download: false, options },
		},
	},
};

/** A link to an image that is never fetched. */
const link = 'https://firm.example/a.png';
const responses = {
	imageEdit: { data: [{ url: link }] },
	chat: {
		choices: [{ index: 0, message: { role: 'assistant', content: `![](${link})` } }],
	},
};

/** An item for each of these, after a manual trigger. */
const listOf = (entries: IDataObject[]): Node[] => [
	core(
		'List',
		'set',
		{ mode: 'raw', jsonOutput: JSON.stringify({ entry: entries }), options: {} },
		3.4,
	),
	core('Each', 'splitOut', { fieldToSplitOut: 'entry', options: { destinationFieldName: '' } }, 1),
];

const continues = { onError: 'continueRegularOutput' } as const;

describe('files of every kind', () => {
	let files: CorpusFile[];

	beforeAll(async () => {
		files = await corpus();
	});

	describe('as inputs', () => {
		let stage: Stage;
		let execution: Execution;
		let inputs: Array<{ file: CorpusFile; way: Way; prompt: string }>;

		beforeAll(async () => {
			// The jobs never get as far as fetching their media.
			stage = await openStage({ jobSeconds: 3600 });
			const { gateway } = stage;
			for (const [route, response] of Object.entries(responses)) {
				gateway.fault({
					...{ route: route as keyof typeof responses, action: 'answer', times: Infinity },
					body: JSON.stringify(response),
				});
			}
			const lastOfKind = new Map(files.map((file) => [file.kind, file]));
			inputs = files.flatMap((file) =>
				ways
					// Skip Checks lets everything through, so one file of each kind is enough.
					.filter((way) => way !== 'skipping' || lastOfKind.get(file.kind) === file)
					.map((way) => ({ file, way, prompt: `${file.name} ${way}` })),
			);
			const entries = inputs.map(({ file, way, prompt }, index) => {
				const [name, type] = declarationOf(file, way, index);
				const url = gateway.addMedia(name, file.bytes, type);
				return { url, prompt, skipping: way === 'skipping' };
			});
			const fetched = core(
				'Fetch',
				'httpRequest',
				{
					url: '={{ $json.url }}',
					options: { response: { response: { responseFormat: 'file' } } },
				},
				4.2,
			);
			const { nodes, connections, ...workflow } = chain(...listOf(entries), fetched);
			const names = Object.keys(uses);
			execution = await stage.run({
				...workflow,
				nodes: [
					...nodes,
					...names.map((name) =>
						modelGateway(
							{ prompt: `={{ $json.prompt }} ${name}`, ...uses[name].parameters },
							{ name, ...continues },
						),
					),
				],
				connections: { ...connections, Fetch: { main: [names.flatMap((name) => to(name))] } },
			});
		});
		afterAll(async () => await stage.close());

		for (const [use, { slot, parameters }] of Object.entries(uses)) {
			const test = parameters.media ? having('signedLinks') : it;
			test(`accepts, or refuses by what it is, a file of every kind: ${use}`, async () => {
				expect(itemsOf(execution, 'Fetch')).toHaveLength(inputs.length);
				const bodies = stage.gateway.requests.map(({ body }) => (body ?? {}) as Body);
				const problems = inputs.map(async ({ file, way, prompt }, index) => {
					const verdict = wanted[file.kind][slot];
					const isByWay = typeof verdict === 'object' && 'own' in verdict;
					const want = way === 'skipping' ? 'passes' : isByWay ? verdict[way] : verdict;
					const output = outputOf(execution, use, index);
					const sent = bodies.filter((body) => promptIn(body) === `${prompt} ${use}`);
					const found = await inputProblems(output, { file, way, want, sent });
					return found.map((problem) => `${prompt}: ${problem}`);
				});
				expect((await Promise.all(problems)).flat()).toEqual([]);
			});
		}

		it('charges for no reference media that were refused', () => {
			const passed = Object.keys(uses)
				.filter((use) => uses[use].parameters.media)
				.flatMap((use) => itemsOf(execution, use).filter(({ json }) => json.error === undefined));
			expect(stage.gateway.ledger).toHaveLength(passed.length);
		});
	});

	describe('as results', () => {
		const generate = modelGateway(
			{
				...{ resource: 'image', operation: 'generate', model: byId('image-1') },
				prompt: '={{ $json.prompt }}',
				options: {
					parallelRequests: 200,
					extraBody: '={{ JSON.stringify({ response_format: $json.format }) }}',
				},
			},
			continues,
		);
		const create = createVideo({
			prompt: '={{ $json.prompt }}',
			options: { parallelRequests: 200 },
		});
		const wait = waitForVideo(
			{ whileWaiting: 'hold', options: { pollIntervalSeconds: 3, maxParallelDownloads: 200 } },
			continues,
		);
		const unannounced = 'without length';
		const fileOf = (caption: string): CorpusFile => {
			const found = files.find(({ name }) => name === caption.split(' ')[0]);
			if (!found) throw new Error(`There is no file ${caption}`);
			return found;
		};

		let stage: Stage;
		let executions: Record<'base64' | 'link' | 'result', Execution>;

		// At the same time: most of it is the time between the tries of a download.
		beforeAll(async () => {
			stage = await openStage({
				jobSeconds: 0.1,
				draw: async ({ caption }) => fileOf(caption).bytes,
				render: async ({ caption }) => fileOf(caption).bytes,
			});
			const { gateway } = stage;
			gateway.fault({
				...{ route: 'download', action: 'headers', times: Infinity },
				headers: { 'content-length': undefined },
				when: ({ jobId = '' }) =>
					gateway.jobs.get(jobId)?.order.prompt.endsWith(unannounced) ?? false,
			});
			const names = files.map(({ name }) => name);
			const run = async (entries: IDataObject[], ...nodes: Node[]) =>
				await stage.run(chain(...listOf(entries), ...nodes));
			const images = async (format: string) =>
				await run(
					names.map((prompt) => ({ prompt, format })),
					generate,
				);
			const prompts = names.flatMap((name) => [name, `${name} ${unannounced}`]);
			const [base64, link, result] = await Promise.all([
				images('b64_json'),
				images('url'),
				run(
					prompts.map((prompt) => ({ prompt })),
					create,
					wait,
				),
			]);
			executions = { base64, link, result };
		});
		afterAll(async () => await stage.close());

		it.each([
			['base64', undefined],
			['link', 'image/png'],
		] as const)(
			'delivers every file that comes as the %s of an image, or says why not',
			(form, declared) => {
				const problems = files.flatMap((file, index) => {
					const output = outputOf(executions[form], generate.name, index);
					return resultProblems(output, { file, want: wanted[file.kind][form], declared }).map(
						(problem) => `${file.name}: ${problem}`,
					);
				});
				expect(problems).toEqual([]);
			},
		);

		it('delivers every file that comes as the result of a video, or says why not', () => {
			const problems = itemsOf(executions.result, create.name).flatMap((_, index) => {
				const prompt = `${files[index >> 1].name} ${index % 2 ? unannounced : ''}`.trim();
				const file = fileOf(prompt);
				const { result, resultWithoutLength = result } = wanted[file.kind];
				const want = prompt.endsWith(unannounced) ? resultWithoutLength : result;
				const output = outputOf(executions.result, wait.name, index);
				return resultProblems(output, { file, want, declared: 'video/mp4' }).map(
					(problem) => `${prompt}: ${problem}`,
				);
			});
			expect(problems).toEqual([]);
		});
	});
});

/** The name and the type under which n8n gets a file. */
function declarationOf({ name, types }: CorpusFile, way: Way, index: number): [string, string] {
	if (way === 'own') return [name, types[0]];
	if (way === 'unknown') return [`download-${index}`, 'application/octet-stream'];
	return [`${way}-${name}.jpg`, 'image/jpeg'];
}

interface Body {
	prompt?: string;
	image?: UploadedFile;
	input?: { prompt: string; media: Array<{ url: string }> };
	messages?: Array<{
		content: Array<{ type: string; text?: string; image_url?: { url: string } }>;
	}>;
}

/** The text in a request that says for which item it is. */
function promptIn({ prompt, input, messages }: Body): string {
	const part = messages?.[0].content.find(({ type }) => type === 'text');
	return prompt ?? input?.prompt ?? part?.text ?? '';
}

/** Under which type the service gets the file. */
async function typeIn({ image, input, messages }: Body): Promise<string> {
	if (image) return image.contentType;
	const part = messages?.[0].content.find(({ type }) => type === 'image_url');
	const [, type] = /^data:([^;,]+)/.exec(part?.image_url?.url ?? '') ?? [];
	if (type !== undefined) return type;
	const response = await fetch(input?.media[0].url ?? '');
	await response.body?.cancel();
	return response.headers.get('content-type') ?? '';
}

/** The output of an item, and whether a hint is about it. */
interface Output {
	/** Why it failed; undefined when it did not. */
	message?: string;
	file?: IBinaryData;
	isHinted: boolean;
}

function outputOf(execution: Execution, node: string, index: number): Output {
	const item = itemsOf(execution, node).find(({ pairedItem }) =>
		isDeepStrictEqual(pairedItem, { item: index }),
	);
	const hints = execution.data.resultData.runData[node][0].hints ?? [];
	return {
		message: item ? messageOf(item.json) : 'there is no output',
		file: item?.binary?.data,
		isHinted: hints.some(({ message }) => isAbout(message, index)),
	};
}

const messageOf = ({ error, message = error }: IDataObject) =>
	error === undefined ? undefined : String(message);

/** Whether a hint names an item. A hint about many items does not name them all. */
function isAbout(hint: string, index: number): boolean {
	const [, items = '', more] = /^Items? ([\d, ]+)( and \d+ more)?:/.exec(hint) ?? [];
	const named = items.split(',').map(Number);
	return (
		items !== '' && (named.includes(index) || (more !== undefined && index > Math.max(...named)))
	);
}

/** How the output of an input differs from what is wanted. */
async function inputProblems(
	{ message, isHinted }: Output,
	{ file, way, want, sent }: { file: CorpusFile; way: Way; want: Verdict; sent: Body[] },
): Promise<string[]> {
	const passes = message === undefined;
	const got = message ?? 'passes';
	if (sent.length !== (passes ? 1 : 0)) return [`${got}, but was sent ${sent.length} times`];
	if (want === 'either' || way === 'skipping') return passes || want === 'either' ? [] : [got];
	if (want !== 'passes') return !passes && want.test(got) ? [] : [`wanted ${want}, got ${got}`];
	if (!passes) return [`wanted ${want}, got ${got}`];
	const problems: string[] = [];
	const type = await typeIn(sent[0]);
	// Only the declared type says what these are.
	const isUnknown = ['picture without a signature', 'unknown bytes'].includes(file.kind);
	if (
		![...file.types, ...(isUnknown ? ['image/jpeg', 'application/octet-stream'] : [])].includes(
			type,
		)
	) {
		problems.push(`sent as ${type}`);
	}
	const hasMore = file.kind === 'JPEG with more behind it';
	if ((hasMore || file.kind === 'picture') && isHinted !== hasMore) {
		problems.push(`sent ${isHinted ? 'with' : 'without'} a hint`);
	}
	return problems;
}

/** How an output differs from what is wanted. @param result `declared`: the type under which the file came */
function resultProblems(
	{ message = 'no file', file: got, isHinted }: Output,
	{ file, want, declared }: { file: CorpusFile; want: Result; declared?: string },
): string[] {
	if (want instanceof RegExp) {
		const said = got ? `delivered as ${got.mimeType}` : message;
		return want.test(said) && !got ? [] : [`wanted ${want}, ${said}`];
	}
	if (!got) return [`wanted “${want}”, ${message}`];
	const { mimeType, fileName = '' } = got;
	const unknown = 'application/octet-stream';
	const isByDeclaration = want === 'as declared';
	const types = [...file.types, ...(isByDeclaration ? [declared ?? unknown, unknown] : [])];
	const endings = [...file.endings, ...(isByDeclaration ? ['bin', ...subtypeOf(declared)] : [])];
	const problems: string[] = [];
	if (!types.includes(mimeType) || !endings.includes(fileName.replace(/.*\./, ''))) {
		problems.push(`delivered as ${mimeType}, ${fileName}`);
	}
	const wantsHint = {
		...{ delivered: false, hint: true },
		'hint unless mp4': mimeType !== 'video/mp4',
		// Of a file that is delivered as it was declared, there may be nothing to say.
		'as declared': mimeType === unknown || isHinted,
	}[want];
	if (isHinted !== wantsHint) problems.push(`delivered ${isHinted ? 'with' : 'without'} a hint`);
	return problems.map((problem) => `wanted “${want}”, ${problem}`);
}

/** `png` of `image/png`. */
const subtypeOf = (type = '') => type.split('/').slice(1);
