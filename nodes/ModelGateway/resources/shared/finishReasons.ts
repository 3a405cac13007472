import { isEmpty } from '../../../shared/gateway/chat/fragments';
import { finishReasons } from '../../../shared/gateway/protocol/chat';
import { asText, excerpt, type JsonObject } from '../../../shared/gateway/json';
import type { ItemRun } from '../../../shared/n8n/items/work';

/**
 * Shows a hint for answers that are cut off, withheld or missing: they are no errors, but the user must notice them.
 * @param reasons the `finish_reason` of each answer ("Resources", chat completion)
 * @param requested how many answers were requested
 */
export function hintAtIncompleteAnswers(
	{ hint }: Pick<ItemRun, 'hint'>,
	reasons: unknown[],
	requested?: unknown,
): void {
	for (const reason of reasons) {
		if (reason !== 'length' && reason !== 'content_filter') continue;
		hint(`The answer is not complete: ${finishReasons[reason]} (finish_reason ${reason}).`);
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

/** Reasons that say why an answer may be empty, and have a hint of their own. */
const explained: readonly unknown[] = ['length', 'max_tokens', 'content_filter'];

/**
 * Shows a hint for an answer that is a refusal, or empty: both are charged.
 * @param answer with what it has besides its text, such as tool calls, under the service's own names
 */
export function hintAtMissingText({ hint }: Pick<ItemRun, 'hint'>, answer: Answer): void {
	const { text, reason, refusal, ...others } = answer;
	const words = asText(refusal);
	if (words !== undefined) hint(`The model refused to answer: ${excerpt(words)}`);
	else if (reason === 'refusal') hint('The model refused to answer. Change the prompt.');
	else if ([text.trim(), ...Object.values(others)].every(isEmpty) && !explained.includes(reason))
		hint('The answer is empty. It is charged like any other.');
}
