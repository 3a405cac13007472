import { fieldOf, type Report } from '../../../shared/n8n/parameters/field';
import { uncheckedText } from '../../../shared/n8n/parameters/fieldKinds';
import { isBlank, jsonIn } from '../../../shared/n8n/parameters/values';

const shownFor = (role: string) => ({ show: { role: [role] } });

/**
 * Fields of messages about tool calls, by role. The specification names the roles without showing their fields; these
 * are the fields of the common wire format.
 */
export const toolFields = [
	uncheckedText({
		displayName: 'Tool Call ID',
		name: 'toolCallId',
		request: 'messages[].tool_call_id',
		displayOptions: shownFor('tool'),
		placeholder: 'e.g. {{ $json.tool_calls[0].id }}',
		description: 'The ID of the tool call that this message answers',
	}),
	uncheckedText({
		displayName: 'Function Name',
		name: 'name',
		request: 'messages[].name',
		displayOptions: shownFor('function'),
		placeholder: 'e.g. {{ $json.function_call.name }}',
		description: 'The function whose result this message is',
	}),
	fieldOf(
		'json',
		{
			displayName: 'Tool Calls (JSON)',
			name: 'toolCalls',
			request: 'messages[].tool_calls',
			displayOptions: shownFor('assistant'),
			default: '[]',
			placeholder: 'e.g. {{ $json.tool_calls }}',
			description:
				'The tool calls in an earlier answer of the model, when this message repeats that answer',
		},
		readToolCalls,
	),
];

function readToolCalls(value: unknown, report: Report): unknown[] | undefined {
	const json = jsonIn(value);
	if (Array.isArray(json)) return json.length > 0 ? json : undefined;
	if (!isBlank(value)) report('must be a list, as the answer of a model has it', 'unsendable');
	return undefined;
}
