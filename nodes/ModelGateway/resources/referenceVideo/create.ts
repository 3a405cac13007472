import type { INodeProperties, NodeHint } from 'n8n-workflow';
import {
	mediaOf,
	referenceVideoWarnings,
	namedMedia,
	referenceVideoProblems,
	type ReferenceVideoRequest,
} from '../../../shared/service/jobs/referenceVideo';
import { linkedFiles } from '../../../shared/service/jobs/referenceMedia';
import type { LinkedFile } from '../../../shared/service/jobs/linkLooks';
import { asText, valueAt } from '../../../shared/service/json';
import { createdTask } from '../../../shared/service/jobs/responses';
import { referenceVideoAmount } from '../../../shared/service/protocol/amount';
import { endpoints } from '../../../shared/service/protocol/endpoints';
import { referenceVideoModels } from '../../../shared/service/protocol/models';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { ExtraBody } from '../../../shared/n8n/parameters/extraBody';
import { placeholderIn } from '../../../shared/n8n/parameters/accidentalText';
import { labelOf } from '../../../shared/n8n/parameters/field';
import { booleanField, choiceField, numberField } from '../../../shared/n8n/parameters/fieldKinds';
import { modelField } from '../../../shared/n8n/parameters/model';
import { timeoutOption } from '../../../shared/n8n/parameters/options';
import { createdJobOutput } from '../shared/createdJob';
import { ifNoJobOption, promptField } from '../shared/fields';
import { mediaFields, modelsThat, readMedia } from './media';
import { jsonWording, type ReferenceMedium } from './mediaJson';

interface Request {
	body: ReferenceVideoRequest;
	/** The body with the files in place of their signed links, which differ from try to try. */
	identity: unknown;
	links: LinkedFile[];
	resendsLost?: boolean;
	timeout?: number;
}

const models = Object.entries(referenceVideoModels);

/** The values that any known model accepts, as choices of a dropdown. */
const valuesOf = (name: 'resolution' | 'ratio') => [
	...new Set(models.flatMap(([, { parameters }]) => parameters[name]?.values ?? [])),
];

/** The limits of each known model. An unknown model has none. */
const durations = models
	.map(([id, { parameters, maxDurationWithVideo }]) => {
		const { min, max } = parameters.duration;
		const withVideo = maxDurationWithVideo
			? `, ${maxDurationWithVideo} with a reference video`
			: '';
		return `${id}: ${min} to ${max}${withVideo}`;
	})
	.join('; ');

/** The default resolution of each known model. */
const defaultResolutions = models
	.map(([id, { parameters }]) => `${id}: ${parameters.resolution.default}`)
	.join('; ');

const defaultModel = 'beta-2.7-r2v';
// "Endpoints" 11: models of videos do not work here.
const model = modelField(defaultModel, { refused: 'video' });

/** The service's own default, so that adding an option changes nothing before another value is chosen. */
const defaultOf = (name: 'resolution' | 'ratio') =>
	String(referenceVideoModels[defaultModel].parameters[name]?.default);

const prompt = promptField({
	request: 'input.prompt',
	placeholder: 'e.g. The person of image 1 walks along the beach at sunset',
	description: 'What happens in the video',
	// n8n does not number the entries of Media in its usual panel.
	hint: `For ${modelsThat(({ numberedMedia }) => numberedMedia)}, “image 1” is the first reference image below, “video 1” the first reference video`,
	rows: 4,
});
const fields = [model, prompt, ...mediaFields];

/** A choice among the values of the known models. Other values are allowed, because another model may accept them. */
const openChoice = <const Path extends string>(
	declaration: Pick<INodeProperties, 'displayName' | 'name' | 'description'> & {
		request: Path;
		default: string;
	},
	values: string[],
) =>
	choiceField({
		...declaration,
		options: values.map((value) => ({ name: value, value })),
		allowArbitraryValues: true,
	});

/** In the order in which they are shown and checked. They have no rules, because the limits depend on the model. */
const options = [
	openChoice(
		{
			displayName: 'Resolution',
			name: 'resolution',
			request: 'parameters.resolution',
			default: defaultOf('resolution'),
			description: `When it is not added, the service takes its own. ${defaultResolutions}.`,
		},
		valuesOf('resolution'),
	),
	openChoice(
		{
			displayName: 'Aspect Ratio',
			name: 'ratio',
			request: 'parameters.ratio',
			default: defaultOf('ratio'),
			description:
				'Shape of the video, for models that take one. With a first frame, it has no effect.',
		},
		valuesOf('ratio'),
	),
	numberField({
		displayName: 'Duration (Seconds)',
		name: 'duration',
		request: 'parameters.duration',
		default: 5,
		description: `Length of the video. ${durations}.`,
	}),
	booleanField({
		displayName: 'Improve Prompt',
		name: 'promptExtend',
		request: 'parameters.prompt_extend',
		default: true,
		description: 'Whether the service rewrites the prompt',
	}),
	booleanField({
		displayName: 'Watermark',
		name: 'watermark',
		request: 'parameters.watermark',
		default: false,
		description:
			'Whether to mark the video as generated by AI; alpha-1.1-r2v does so at the bottom right',
	}),
	numberField({
		displayName: 'Seed',
		name: 'seed',
		request: 'parameters.seed',
		description: 'A whole number, for models that take a seed',
	}),
	ifNoJobOption,
];

/**
 * Shown before a run when the prompt names more media than the panel has: n8n gives a field no hint that counts.
 * The same warning comes with the output, and with a preview.
 */
export const missingMediaHint: NodeHint = {
	message:
		'The prompt names an image or a video that Media does not have. It is ordered all the same.',
	displayCondition: `={{ $parameter.mediaInput === 'fields' && [...String($parameter.prompt).matchAll(${String(namedMedia)})].some(([, noun, number]) => number > ($parameter.media.values ?? []).filter(({ type }) => type === 'reference_' + noun.toLowerCase()).length) }}`,
	whenToDisplay: 'beforeExecution',
	location: 'outputPane',
};

/** Links with a text that stands for a value which never took its place. */
const linkAccidents = (media: ReferenceMedium[]) =>
	media.flatMap(({ medium }, index) =>
		['url', 'reference_voice'].flatMap((name) => {
			const accident = placeholderIn(asText(valueAt(medium, name)) ?? '', true);
			return accident ? [{ path: `input.media[${index}].${name}`, ...accident }] : [];
		}),
	);

/** "Endpoints" 1. */
export const referenceVideoCreate: Operation<Request> = {
	resource: { name: 'Reference Video', value: 'referenceVideo' },
	name: 'Create',
	value: 'create',
	action: 'Create video from images',
	description:
		'Start a job that creates a video from reference images and videos. Connect the output to a Wait for Video node.',
	endpoint: endpoints.referenceVideoCreate,
	isOrder: true,
	fields,
	options,

	async prepare(parameters) {
		const extra = new ExtraBody(parameters);
		const { media, wording } = extra.has('input.media')
			? { media: [], wording: jsonWording }
			: await readMedia(parameters);
		const settings = extra.remaining(parameters.options, options);
		const { input, ...required } = extra.remaining(parameters, [model, prompt]);
		const bodyWith = (list: unknown[]): ReferenceVideoRequest =>
			extra.addTo({ ...required, input: { ...input, media: list }, ...settings });
		const body = bodyWith(media.map(({ medium }) => medium));
		const labelAt = (path: string) => labelOf(path, [...fields, ...options]);
		for (const { path, problem } of linkAccidents(media)) parameters.report(labelAt(path), problem);
		// A field that could not be read breaks the rules of the model, too: one problem is enough.
		const reported = new Set(parameters.problems.map(({ field }) => field));
		for (const { path, problem } of referenceVideoProblems(body, parameters.gatewayUrl, wording)) {
			if (!reported.has(labelAt(path))) parameters.report(labelAt(path), problem);
		}
		for (const { path, problem } of referenceVideoWarnings(body)) {
			parameters.report(labelAt(path), problem, 'hint');
		}
		// The link to a file of n8n was made from the file itself, which has been checked.
		const isFile = (index: number) => media[index]?.medium !== media[index]?.identity;
		const linked = mediaOf(body).map((medium, index) => (isFile(index) ? undefined : medium));
		return {
			body,
			identity: bodyWith(media.map(({ identity }) => identity)),
			links: parameters.skipsRules
				? []
				: linkedFiles(linked, { labelAt, model: body.model, wording }),
			resendsLost: ifNoJobOption.read(parameters.options),
			timeout: timeoutOption.read(parameters.options),
		};
	},

	async perform({ body, resendsLost, timeout }, run) {
		const created = await run.gateway.call({
			endpoint: endpoints.referenceVideoCreate,
			purpose: 'create the reference video',
			...{ body, resendsLost, timeout },
			parse: createdTask,
		});
		return createdJobOutput(
			{ kind: 'task', ...created, amount: referenceVideoAmount({ ...body }) },
			run,
		);
	},

	linkedFiles: ({ links }) => links,

	amount: ({ body }) => referenceVideoAmount({ ...body }),

	identity: (request) => request.identity,
	resendsLost: (request) => request.resendsLost ?? false,
};
