import { describeRule, type FieldRule } from '../../../nodes/shared/service/protocol/fields';
import {
	referenceVideoModels,
	type ReferenceVideoModel,
} from '../../../nodes/shared/service/protocol/models';
import { addressOf, operationName, type FieldRow } from './fieldRows';
import { aligned } from './markdown';

export function fieldPage(rows: FieldRow[]): string {
	const endpoints = [...new Set(rows.map(({ operation }) => operation.endpoint))];
	const sections = endpoints.map((endpoint) => {
		const own = rows.filter(({ operation }) => operation.endpoint === endpoint);
		return `## \`${addressOf(endpoint)}\`\n\n${table(own)}\n`;
	});
	return `# Fields of the requests

Each field that the service documents, the parameter of the **Model Gateway** node that sets it, and what it must be. An option that you do not add is not sent.

This page is written from the declarations of the fields: \`UPDATE_DOCS=1 npx jest test/unit/package/writtenPages.test.ts\`. That test compares it with them. \`test/engine/fields/fieldTable.test.ts\` compares them with the fields that the service documents, and proves each row: it runs the operation with the parameter and without it, and finds the field in the first request only.

**Model Gateway Chat Model** sets \`model\`, \`messages\`, \`stream\`, \`stop\` and the options of the same names of \`POST /v1/chat/completions\`. It also sets \`tools\`, \`tool_choice\` and \`response_format\`, which the service does not list (\`test/unit/nodes/LmChatModelGateway/chatModel.test.ts\`, \`test/engine/agents/chatModel.test.ts\`).

**Embeddings Model Gateway** sets \`model\` and \`input\`, and has the options Dimensions and Encoding Format of \`POST /v1/embeddings\` (\`test/engine/agents/embeddingsModel.test.ts\`).

Set any other field through **Extra Body (JSON)**, an option of all operations below, of the chat model and of the embeddings (\`test/engine/fields/extraBody.test.ts\`). **Skip Checks** sends a request regardless of these rules. \`GET\` requests have no fields; the ID of a job is part of their path.

${sections.join('\n')}`;
}

function table(rows: FieldRow[]): string {
	return aligned([
		['Field', 'Operation', 'Parameter', 'Must be', 'What it is'],
		...rows.map((row) => [
			`\`${row.request}\``,
			operationName(row.operation),
			row.labels.join(' → '),
			ruleOf(row),
			descriptionOf(row),
		]),
	]);
}

/** Fields that the specification does not show. Their names come from OpenAI's formats for chat and embeddings. */
const guessedFields: readonly string[] = [
	'messages[].tool_call_id',
	'messages[].name',
	'messages[].tool_calls',
	'dimensions',
	'encoding_format',
];

function descriptionOf({ property, request }: FieldRow): string {
	const text = property.description ?? property.hint ?? '';
	if (!guessedFields.includes(request)) return text;
	const source = "Not in the service's documentation; the name is OpenAI's.";
	return [text.replace(/\.$/, ''), source].filter(Boolean).join('. ');
}

const kinds: Record<FieldRule['type'], string> = {
	string: 'a text',
	integer: 'a whole number',
	number: 'a number',
	boolean: 'true or false',
	array: 'a list',
	object: 'an object',
	file: 'an image',
	'string | array': 'a text or a list of texts',
	json: 'JSON',
};

function ruleOf({ request, rule, property }: FieldRow): string {
	if (/binaryField$/i.test(property.name)) return 'the name of a file of the item';
	if (/url$/i.test(property.name)) return 'a link';
	const { type, options = [], allowArbitraryValues } = property;
	if (rule) return wordsOf(rule);
	const name = /^parameters\.(.+)$/.exec(request)?.[1];
	if (name !== undefined) return rulesOfModels(name as keyof ReferenceVideoModel['parameters']);
	const choices = `one of ${options.map((option) => valueOf(option)).join(', ')}`;
	if (request.endsWith('.type')) return `${choices}; another model may take more`;
	if (allowArbitraryValues) return `${choices}; any other is sent, too`;
	if (type === 'options') return choices;
	return type === 'fixedCollection' || type === 'json' ? kinds.array : kinds.string;
}

const valueOf = (option: object) => ('value' in option ? String(option.value) : '');

function wordsOf(rule: FieldRule): string {
	const examples = rule.examples ? `, such as ${rule.examples.join(', ')}` : '';
	return (describeRule(rule) ?? kinds[rule.type]) + examples;
}

/** The rules of a field that each model may have different rules for. */
function rulesOfModels(name: keyof ReferenceVideoModel['parameters']): string {
	const rules = Object.entries(referenceVideoModels).flatMap(([model, { parameters }]) => {
		const rule = parameters[name];
		return rule ? [{ model, words: wordsOf(rule) }] : [];
	});
	const [first] = rules;
	const isNarrow = first.words !== kinds.boolean;
	const isCommon =
		rules.length === Object.keys(referenceVideoModels).length &&
		rules.every(({ words }) => words === first.words);
	if (isCommon && !isNarrow) return first.words;
	const words = isCommon
		? first.words
		: rules.map(({ model, words }) => `${words} (${model})`).join('; ');
	return `${words}; another model may take more`;
}
