import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { ModelGatewayApi } from '../../../credentials/ModelGatewayApi.credentials';
import { EmbeddingsModelGateway } from '../../../nodes/EmbeddingsModelGateway/EmbeddingsModelGateway.node.js';
import { LmChatModelGateway } from '../../../nodes/LmChatModelGateway/LmChatModelGateway.node.js';
import { ModelGateway } from '../../../nodes/ModelGateway/ModelGateway.node.js';
import { ModelGatewayWaitForVideo } from '../../../nodes/ModelGatewayWaitForVideo/ModelGatewayWaitForVideo.node.js';
import { errorCodes } from '../../../nodes/shared/service/protocol/errorCodes';
import { limits } from '../../../nodes/shared/service/protocol/limits';
import { sentencesOf } from './markdown';

const root = path.join(__dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

interface Statement {
	/** As the user reads it, without markup and full stop. `…` stands for a value that is filled in. */
	text: string;
	place: string;
}

/** Which tests passed where. */
const evidence = ['versions.md'];

/** Every sentence about the service that users read, once for each place where it occurs. */
export function serviceStatements(): Statement[] {
	return userTexts().flatMap(([place, text]) =>
		sentencesOf(text)
			.map((sentence) => ({ text: sentence.replace(/^Could not …: |\.$/g, ''), place }))
			.filter((statement) => isAboutService(statement.text)),
	);
}

/** A place, and a text in it. */
type Found = [place: string, text: string];

/** Everything that users read: the pages without `evidence` and those for developers, the notes of the examples, the panels, the messages. */
function userTexts(): Found[] {
	const guides = filesIn('docs', '.md').filter(
		(file) => !evidence.includes(path.basename(file)) && !file.startsWith('docs/development/'),
	);
	const pages = ['README.md', 'SECURITY.md', ...guides].map((file): Found => [file, read(file)]);
	const panels = panelTexts().map(({ text }): Found => ['the panels', text]);
	return [...pages, ...notes(), ...panels, ...literals()];
}

function notes(): Found[] {
	return filesIn('examples', '.json').flatMap((file) => {
		const { nodes } = JSON.parse(read(file)) as {
			nodes: Array<{ type: string; parameters: { content?: string } }>;
		};
		return nodes
			.filter(({ type }) => type === 'n8n-nodes-base.stickyNote')
			.map(({ parameters }): Found => [file, parameters.content ?? '']);
	});
}

/** A text of a panel, by the name of its property; a notice has its text as its name. */
interface PanelText {
	name: string;
	text: string;
}

/** Every text of the nodes and the credential that the editor shows. */
export function panelTexts(): PanelText[] {
	const found: PanelText[] = [];
	const visit = (value: unknown): void => {
		if (typeof value !== 'object' || value === null) return;
		for (const [name, inner] of Object.entries(value)) {
			const isShown = /^(description|displayName|hint|message|name|placeholder)$/.test(name);
			const isNotice = name === 'displayName' && 'type' in value && value.type === 'notice';
			if (isShown && typeof inner === 'string') {
				found.push({ name: isNotice ? 'notice' : name, text: inner });
			}
			visit(inner);
		}
	};
	visit([
		new ModelGatewayApi().properties,
		new ModelGateway().description,
		new ModelGatewayWaitForVideo().description,
		new LmChatModelGateway().description,
		new EmbeddingsModelGateway().description,
	]);
	return found;
}

/** Every text in the sources, such as error messages and hints. */
const literals = (): Found[] =>
	[...filesIn('nodes', '.ts'), ...filesIn('credentials', '.ts')].flatMap((file) =>
		literalsIn(file).map((text): Found => [file, text]),
	);

const filesIn = (folder: string, ending: string): string[] =>
	readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => name.endsWith(ending))
		.map((name) => `${folder}/${name}`);

/** The texts of a file. `…` stands for a value that is filled in; a limit of the service is shown as its number. */
function literalsIn(file: string): string[] {
	const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
	const texts: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isStringLiteralLike(node)) texts.push(node.text);
		if (ts.isTemplateExpression(node)) {
			const parts = node.templateSpans.map(
				({ expression, literal }) => valueOf(expression) + literal.text,
			);
			texts.push(node.head.text + parts.join(''));
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	return texts;
}

function valueOf(expression: ts.Expression): string {
	const [, limit] = /^limits\.(\w+)$/.exec(expression.getText()) ?? [];
	return String(Object.entries(limits).find(([name]) => name === limit)?.[1] ?? '…');
}

const codes = Object.keys(errorCodes).join('|');

/** Patterns of which every statement about the service matches at least one. */
const marks: readonly RegExp[] = [
	// The service as the subject: not "of the service", and not "when the service …", which only says what can happen.
	/(?<!\b(?:of|to|from|asks?|runs|not|where|when|if|unless|as|what|whatever) )\b(?:the|this|your) (?:service|gateway)\b(?!'s own)/i,
	/\bdocumentation\b|\b(?:service|gateway) documents\b|\bconsole\b|\bbilling log\b/i,
	/\b(?:is|was) not (?:billed|charged)\b/i,
	/\b(?:alpha|beta|vid)-\d|\b(?:alpha|beta|reasoning) models?\b/i,
	/\bmoderation\b|\bkey's group\b|\bprompt.*\bre(?:writ|word)|\bfirst frame\b|\bimage 1\b.*\b(?:is|are)\b/i,
	// Limits. Seconds and megabytes in short form are our own figures.
	/\b(?:\d+|an?|one|two|some) (?:hours?|days?|weeks?)\b|\blinks?\b.*\bminutes\b|\bstays at \d+/i,
	/\b(?:\d+ to|at most) \d+\b(?! (?:s|MB|kB)\b)|\bup to \d+ (?:images|pictures|videos)\b/i,
	// An error code, above all one with a fixed status. With a status that is filled in, a text claims nothing.
	new RegExp(`(?<!HTTP …, )\\b(?:${codes})\\b`),
];

/** Whether a sentence states something about the service. A label of one or two words states nothing. */
const isAboutService = (text: string): boolean =>
	text.split(' ').length > 2 && marks.some((mark) => mark.test(text));
