import type { IDataObject } from 'n8n-workflow';
import { refusalIn, type Choice, type Completion } from '../../../shared/service/chat/completion';
import { isEmpty } from '../../../shared/service/chat/fragments';
import {
	hasThoughts,
	isThought,
	otherContentOf,
	partsOf,
	textOf,
} from '../../../shared/service/chat/message';
import { requestIdsOf } from '../../../shared/service/client/response';
import { asText, excerpt, withoutUndefined } from '../../../shared/service/json';
import { cutShort } from '../../../shared/service/protocol/chat';
import type { ItemOutput, ItemRun } from '../../../shared/n8n/items/work';

/** Gives each answer as an item, and shows hints for those that a person must notice. */
export function deliverAnswers(
	completion: Completion,
	run: Pick<ItemRun, 'hint'>,
	requested?: unknown,
): ItemOutput[] {
	const { choices, model, usage, stop_reason } = completion;
	// Endpoints of messages say in `stop_reason` why an answer ended.
	const field = choices[0].finish_reason === stop_reason ? 'stop_reason' : 'finish_reason';
	const reasons = choices.map(({ finish_reason }) => finish_reason);
	hintAtIncompleteAnswers(run, reasons, { requested, field });
	const why = refusalIn(completion);
	for (const choice of choices) hintAtMissingText(run, choice, why);
	return choices.map(({ message, finish_reason, index }, position) => ({
		json: withoutUndefined({
			text: textOf(message),
			finish_reason: finish_reason === stop_reason ? undefined : finish_reason,
			stop_reason,
			model,
			// The usage is that of all choices, so only one item has it: the sum over all items is then correct.
			usage: position === 0 ? usage : undefined,
			...requestIdsOf(completion),
			...otherContentOf(message),
			index: choices.length > 1 ? index : undefined,
		}) as IDataObject,
	}));
}

/**
 * Shows a hint for answers that are cut off, withheld or missing: they are no errors, but the user must notice them.
 * @param reasons why each answer ended, in the service's word (such as `finish_reason`: "Resources", chat completion)
 */
export function hintAtIncompleteAnswers(
	{ hint }: Pick<ItemRun, 'hint'>,
	reasons: unknown[],
	{ requested, field = 'finish_reason' }: { requested?: unknown; field?: string } = {},
): void {
	for (const reason of reasons) {
		if (reason === null) {
			hint(
				`The answer may not be complete: its response does not say why it ended (${field} null).`,
			);
			continue;
		}
		// These have a hint of their own.
		const cut = ['refusal', 'error'].includes(String(reason)) ? undefined : cutShort(reason);
		if (!cut) continue;
		const what = cut.why ? `is not complete: ${cut.why}` : 'may not be complete';
		hint(`The answer ${what} (${field} ${excerpt(String(reason), 50)}).`);
	}
	if (reasons.length < Number(requested)) {
		hint(`${reasons.length} of the ${String(requested)} answers came.`);
	}
}

/**
 * Shows a hint for an answer that is a refusal, or empty: both are charged.
 * @param why what the response says beside its answers, such as that moderation withheld them
 */
function hintAtMissingText(
	{ hint }: Pick<ItemRun, 'hint'>,
	{ message, finish_reason: reason }: Choice,
	why = '',
): void {
	const { refusal, content, ...others } = otherContentOf(message);
	const words = asText(refusal);
	const parts = partsOf(content).filter((part) => !isThought(part));
	const contents = [textOf(message).trim(), parts, ...Object.values(others)];
	if (words !== undefined) hint(`The model refused to answer: ${excerpt(words)}`);
	else if (reason === 'refusal') hint('The model refused to answer. Change the prompt.');
	else if (!contents.every(isEmpty) || cutShort(reason)) return;
	else if (why !== '') hint(`The answer is empty: ${excerpt(why)}`);
	else if (hasThoughts(message))
		hint(
			'The answer is empty: the model gave only its thoughts. They are charged like any answer.',
		);
	else hint('The answer is empty. It is charged like any other.');
}
