import type { INodeProperties } from 'n8n-workflow';
import {
	referenceVideoWarnings,
	referenceVideoProblems,
	type ReferenceVideoRequest,
} from '../../../shared/gateway/jobs/referenceVideo';
import { createdTask } from '../../../shared/gateway/jobs/responses';
import { endpoints } from '../../../shared/gateway/protocol/endpoints';
import { referenceVideoModels } from '../../../shared/gateway/protocol/models';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { ExtraBody } from '../../../shared/n8n/parameters/extraBody';
import { labelOf } from '../../../shared/n8n/parameters/field';
import { booleanField, choiceField, numberField } from '../../../shared/n8n/parameters/fieldKinds';
import { modelField } from '../../../shared/n8n/parameters/model';
import { timeoutOption } from '../../../shared/n8n/parameters/options';
import { createdJobOutput } from '../shared/createdJob';
import { ifAnswerLostOption, isResentIfLost, promptField } from '../shared/fields';
import { mediaFields, readMedia } from './media';
import { jsonWording } from './mediaJson';

interface Request {
	body: ReferenceVideoRequest;
	/** The body as the user gave it: signed links differ from try to try, the files behind them do not. */
	identity: unknown;
	resendsLost: boolean;
	timeout?: number;
}

const models = Object.entries(referenceVideoModels);

/** What any of the known models takes, as the choices of a dropdown. */
const valuesOf = (name: 'resolution' | 'ratio') => [
	...new Set(models.flatMap(([, { parameters }]) => parameters[name]?.values ?? [])),
];

/** The limits of each known model; a model that is not known has none. */
const durations = models
	.map(([id, { parameters, maxDurationWithVideo }]) => {
		const { min, max } = parameters.duration;
		const withVideo = maxDurationWithVideo
			? `, ${maxDurationWithVideo} with a reference video`
			: '';
		return `${id}: ${min} to ${max}${withVideo}`;
	})
	.join('; ');

/** What each known model makes when it is not told. */
const usualResolutions = models
	.map(([id, { parameters }]) => `${id}: ${parameters.resolution.default}`)
	.join('; ');

const defaultModel = 'beta-2.7-r2v';
// "Endpoints" 11: models of videos do not work here.
const model = modelField(defaultModel, { refused: 'video' });

/** Adding an option changes nothing before another value is chosen. */
const defaultOf = (name: 'resolution' | 'ratio') =>
	String(referenceVideoModels[defaultModel].parameters[name]?.default);

const prompt = promptField({
	request: 'input.prompt',
	placeholder: 'e.g. The person of image 1 walks along the beach at sunset',
	description: 'What happens in the video',
	// n8n does not number the entries of Media in its usual panel.
	hint: '“Image 1” is the first reference image below, “video 1” the first reference video',
	rows: 4,
});
const fields = [model, prompt, ...mediaFields];

/** A choice among what the known models take; another model may take more, and no value is marked as wrong. */
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

/** In the order in which they are shown and checked. They have no rules of their own, because each model has others. */
const options = [
	openChoice(
		{
			displayName: 'Resolution',
			name: 'resolution',
			request: 'parameters.resolution',
			default: defaultOf('resolution'),
			description: `When it is not added, the service takes its own. ${usualResolutions}.`,
		},
		valuesOf('resolution'),
	),
	openChoice(
		{
			displayName: 'Aspect Ratio',
			name: 'ratio',
			request: 'parameters.ratio',
			default: defaultOf('ratio'),
			description: 'Shape of the video, for beta models. With a first frame, the frame decides it.',
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
		description: 'Whether the service rewrites the prompt for a better result',
	}),
	booleanField({
		displayName: 'Watermark',
		name: 'watermark',
		request: 'parameters.watermark',
		default: false,
		description: 'Whether to add an “AI generated” watermark at the bottom right',
	}),
	numberField({
		displayName: 'Seed',
		name: 'seed',
		request: 'parameters.seed',
		description: 'A whole number, for models that take a seed',
	}),
	ifAnswerLostOption,
];

/** "Endpoints" 1. */
export const referenceVideoCreate: Operation<Request> = {
	resource: { name: 'Reference Video', value: 'referenceVideo' },
	name: 'Create',
	value: 'create',
	action: 'Create a video from pictures',
	description:
		'Start a job that creates a video from reference images and videos. Connect the output to a Wait for Video node.',
	endpoint: endpoints.referenceVideoCreate,
	isOrder: true,
	fields,
	options,

	async prepare(parameters) {
		const extra = new ExtraBody(parameters);
		const { media, wording } = extra.gives('input.media')
			? { media: [], wording: jsonWording }
			: await readMedia(parameters);
		const settings = extra.others(parameters.options, options);
		const { input, ...required } = extra.others(parameters, [model, prompt]);
		const bodyWith = (list: unknown[]): ReferenceVideoRequest =>
			extra.addTo({ ...required, input: { ...input, media: list }, ...settings });
		const body = bodyWith(media.map(({ medium }) => medium));
		const labelAt = (path: string) => labelOf(path, [...fields, ...options]);
		for (const { path, problem } of referenceVideoProblems(body, parameters.gatewayUrl, wording)) {
			parameters.report(labelAt(path), problem);
		}
		for (const { path, problem } of referenceVideoWarnings(body)) {
			parameters.hints.push(`${labelAt(path)} ${problem}.`);
		}
		return {
			body,
			identity: bodyWith(media.map(({ identity }) => identity)),
			resendsLost: isResentIfLost(parameters.options),
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
		return createdJobOutput({ kind: 'task', ...created }, run);
	},

	identity: (request) => request.identity,
	resendsLost: (request) => request.resendsLost,
};
