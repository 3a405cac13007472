import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { isObject } from '../../service/json';
import { listModels } from '../../service/models/list';
import { knownModels, type ModelKind } from '../../service/protocol/models';
import { createGateway } from '../client/gateway';
import { resourceOf } from '../errors/advice';
import { nodeError } from '../errors/nodeError';
import { fieldOf, type Field } from './field';
import { intendedText } from './values';

/** From the list, or by ID. @param refused the kind of models that the service does not accept here */
export function modelField(
	defaultModel = '',
	{ refused, hint }: { refused?: ModelKind; hint?: string } = {},
): Field<string> {
	const problemOf = (id: unknown) =>
		refused && knownModels.get(String(id))?.kind === refused
			? `${String(id)} belongs to ${resourceOf[refused]}: choose that resource`
			: undefined;
	const cachedResultName = nameInList(defaultModel, knownModels.get(defaultModel)?.kind);
	return fieldOf(
		'resourceLocator',
		{
			displayName: 'Model',
			name: 'model',
			builderHint: {
				propertyHint:
					'Take an ID from the list of the gateway, or one that the user names: IDs are not to be guessed',
			},
			request: 'model',
			problemOf,
			hint,
			default: { __rl: true, mode: 'list', value: defaultModel, cachedResultName },
			required: true,
			// Another resource takes other models: n8n then empties the field. If it cannot evaluate the other fields of a tool,
			// it replaces an untouched default, which it recognizes only with `__rl`.
			typeOptions: { loadOptionsDependsOn: ['resource'] },
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
		(value, report, { parameters }) => {
			const chosen = isObject(value) && 'value' in value ? value.value : value;
			const id = intendedText(parameters.purpose.otherModel ?? chosen, report).trim();
			const problem = problemOf(id);
			if (problem !== undefined) report(problem);
			return id;
		},
	);
}

/** The specification says for some models only what they are for; for others, the ID suggests it. */
type Purpose = ModelKind | 'chat' | 'embedding' | 'image';

/** The purpose of the models that these resources and nodes take. Other resources are called like it. */
const purposes = new Map([
	['message', 'chat'],
	['lmChatModelGateway', 'chat'],
	['embeddingsModelGateway', 'embedding'],
]);

/** The resource that takes models of a purpose. Message takes those of Chat. */
const labels = { ...resourceOf, chat: 'Chat', embedding: 'Embedding', image: 'Image' };

/** The first match counts. It is a guess, and decides only the order and the names in the list. */
const suggestions: ReadonlyArray<readonly [RegExp, Purpose]> = [
	[/r2v/i, 'referenceVideo'],
	[/vid(?!ia)/i, 'video'],
	[/embed/i, 'embedding'],
	[/image|img|picture|photo/i, 'image'],
	[/chat|instruct|reason|think|coder|gpt|llm/i, 'chat'],
];

const suggestedBy = (id: string) => suggestions.find(([words]) => words.test(id))?.[1];

/** Fills the list of models, first those that fit best. @param filter a part of a name in the list */
export async function searchModels(
	this: ILoadOptionsFunctions,
	filter = '',
): Promise<INodeListSearchResult> {
	try {
		const { models: listed } = await listModels(await createGateway(this));
		const resource = String(
			this.getCurrentNodeParameter('resource') ?? this.getNode().type.split('.').at(-1),
		);
		const purpose = purposes.get(resource) ?? resource;
		const known = [...knownModels.keys()].filter((id) => knownModels.get(id)?.kind === purpose);
		const ids = [...new Set([...known, ...listed.map(({ id }) => id).sort()])];
		const rank = (id: string) => {
			const kind = knownModels.get(id)?.kind;
			if (kind !== undefined) return kind === purpose ? 0 : 4;
			// Most models whose IDs suggest nothing are for chats.
			const suggested = suggestedBy(id) ?? (purpose === 'chat' ? purpose : undefined);
			if (suggested === undefined) return 2;
			return suggested === purpose ? 1 : 3;
		};
		const search = filter.trim().toLowerCase();
		const results = ids
			.sort((a, b) => rank(a) - rank(b))
			.map((id) => ({ name: nameInList(id, purpose), value: id }))
			.filter(({ name }) => name.toLowerCase().includes(search));
		return { results };
	} catch (error) {
		throw nodeError(this.getNode(), { error, others: [], jobs: [], jobsAreKept: false });
	}
}

/** The ID with what is known of the model, because n8n shows no descriptions in this list. */
function nameInList(id: string, purpose: string | undefined): string {
	const known = knownModels.get(id);
	if (known) {
		const { kind, meaning } = known;
		return `${id} (${kind === purpose ? meaning : `a model of ${resourceOf[kind]}`})`;
	}
	const suggested = suggestedBy(id);
	return suggested === undefined || suggested === purpose
		? id
		: `${id} (probably a model of ${labels[suggested]})`;
}
