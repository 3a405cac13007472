import { isEmpty } from '../../../shared/gateway/chat/fragments';
import { cutShort } from '../../../shared/gateway/protocol/chat';
import { asText, excerpt, type JsonObject } from '../../../shared/gateway/json';
import type { ItemRun } from '../../../shared/n8n/items/work';

/**
 * Shows a hint for answers that are cut off, withheld or missing: they are no errors, but the user must notice them.
 * @param reasons why each answer ended, in the service's word (such as `finish_reason`: "Resources", chat completion)
 * @param options how many answers were requested, and which field says why they ended
 */
export function hintAtIncompleteAnswers(
	{ hint }: Pick<ItemRun, 'hint'>,
	reasons: unknown[],
	{ requested, field = 'finish_reason' }: { requested?: unknown; field?: string } = {},
): void {
	for (const reason of reasons) {
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

interface Answer extends JsonObject {
	text: string;
	/** Why it ended, in the service's word. */
	reason: unknown;
	refusal?: unknown;
}

/**
 * Shows a hint for an answer that is a refusal, or empty: both are charged.
 * @param answer with what it has besides its text, such as tool calls, under the service's own names
 */
export function hintAtMissingText({ hint }: Pick<ItemRun, 'hint'>, answer: Answer): void {
	const { text, reason, refusal, ...others } = answer;
	const words = asText(refusal);
	if (words !== undefined) hint(`The model refused to answer: ${excerpt(words)}`);
	else if (reason === 'refusal') hint('The model refused to answer. Change the prompt.');
	else if ([text.trim(), ...Object.values(others)].every(isEmpty) && !cutShort(reason))
		hint('The answer is empty. It is charged like any other.');
}
