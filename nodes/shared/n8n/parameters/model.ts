import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { listModels } from '../../gateway/models/list';
import { knownModels, type ModelKind } from '../../gateway/protocol/models';
import { createGateway } from '../client/gateway';
import { resourceOf } from '../errors/advice';
import { nodeError } from '../errors/nodeError';
import type { Field } from './field';
import { fieldOf, nonEmptyText } from './fieldKinds';
import type { ItemParameters, Scope } from './itemParameters';

/**
 * The model of an operation: from the list, or by id, so that a new one works on the day it appears.
 * @param refused models that the service does not take here
 */
export function modelField(
	defaultModel = '',
	{ refused }: { refused?: ModelKind } = {},
): Field<string, 'model'> {
	const cachedResultName = nameInList(defaultModel, knownModels.get(defaultModel)?.kind);
	const field = fieldOf(
		'resourceLocator',
		{
			displayName: 'Model',
			name: 'model',
			builderHint: {
				propertyHint:
					'Take an ID from the list of the gateway, or one that the user names: IDs are not to be guessed',
			},
			request: 'model',
			default: { mode: 'list', value: defaultModel, cachedResultName },
			required: true,
			description:
				'The model to use. The list comes from your gateway; any ID can be given by hand.',
			modes: [
				{
					displayName: 'From List',
					name: 'list',
					type: 'list',
					typeOptions: { searchListMethod: 'searchModels', searchable: true },
				},
				{
					displayName: 'By ID',
					name: 'id',
					type: 'string',
					placeholder: `e.g. ${defaultModel || 'my-model-1'}`,
				},
			],
		},
		(value, report) => {
			const id = nonEmptyText(value, report).trim();
			const kind = knownModels.get(id)?.kind;
			if (kind !== undefined && kind === refused) {
				report(`${id} belongs to ${resourceOf[kind]}: choose that resource`);
			}
			return id;
		},
	);
	return { ...field, read: ({ parameters }) => field.read(locatorScope(parameters)) };
}

/** Where a resource locator is read: it gives the ID that was chosen, without the mode. */
function locatorScope(parameters: ItemParameters): Scope {
	const { context, item } = parameters;
	return {
		parameters,
		value: (name) => context.getNodeParameter(name, item, '', { extractValue: true }),
		report: (field, problem, kind) => parameters.report(field, problem, kind),
	};
}

/** What a model is for. The specification tells it of some models only; of the others, the ID suggests it. */
type Purpose = ModelKind | 'chat' | 'embedding' | 'image';

/** What is asked for: by the resource of the menu, or the name of a node without resources. */
const purposes: Readonly<Record<string, Purpose>> = {
	chat: 'chat',
	message: 'chat',
	embedding: 'embedding',
	image: 'image',
	referenceVideo: 'referenceVideo',
	video: 'video',
	lmChatModelGateway: 'chat',
	embeddingsModelGateway: 'embedding',
};

/** What an ID suggests; the first match counts. It is a guess, and decides the order of the list alone. */
const suggestions: ReadonlyArray<readonly [RegExp, Purpose]> = [
	[/r2v/i, 'referenceVideo'],
	[/vid/i, 'video'],
	[/embed/i, 'embedding'],
	[/image|img|picture|photo/i, 'image'],
	[/(?:)/, 'chat'],
];

const suggestedBy = (id: string) => suggestions.find(([words]) => words.test(id))?.[1];

/**
 * Fills the list: the models that are known to fit, those that may fit by their id, all others, and those that are
 * known not to. The filter finds what they are called.
 */
export async function searchModels(
	this: ILoadOptionsFunctions,
	filter = '',
): Promise<INodeListSearchResult> {
	try {
		const { models: listed } = await listModels(await createGateway(this));
		const asker = this.getCurrentNodeParameter('resource') ?? this.getNode().type.split('.').at(-1);
		const purpose = purposes[String(asker)];
		const known = [...knownModels.keys()].filter((id) => knownModels.get(id)?.kind === purpose);
		const ids = [...new Set([...known, ...listed.map(({ id }) => id).sort()])];
		const rank = (id: string) => {
			const kind = knownModels.get(id)?.kind;
			if (kind !== undefined) return kind === purpose ? 0 : 3;
			return suggestedBy(id) === purpose ? 1 : 2;
		};
		const wanted = filter.trim().toLowerCase();
		const results = ids
			.sort((a, b) => rank(a) - rank(b))
			.map((id) => ({ name: nameInList(id, purpose), value: id }))
			.filter(({ name }) => name.toLowerCase().includes(wanted));
		return { results };
	} catch (error) {
		throw nodeError(this.getNode(), { error, others: [], jobs: [], jobsAreKept: false });
	}
}

/** With what is known of it: n8n shows the names of a list only, no descriptions. */
function nameInList(id: string, purpose: Purpose | undefined): string {
	const known = knownModels.get(id);
	if (known) {
		const { kind, meaning } = known;
		return `${id} (${kind === purpose ? meaning : `a model of ${resourceOf[kind]}`})`;
	}
	// "Endpoints" 1: such models do not work here.
	const isDoubtful = purpose === 'video' && suggestedBy(id) === 'referenceVideo';
	return isDoubtful ? `${id} (probably a model of ${resourceOf.referenceVideo})` : id;
}
