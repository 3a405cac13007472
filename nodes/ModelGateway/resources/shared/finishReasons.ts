import { finishReasons } from '../../../shared/gateway/protocol/chat';
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
