import { finishReasons } from '../../../shared/gateway/protocol/chat';
import type { ItemRun } from '../../../shared/n8n/items/work';

/**
 * Hints at answers that are cut or withheld, and at missing ones: these are no errors, and must not pass unseen either.
 * @param reasons why each answer ended ("Resources", chat completion)
 * @param asked how many answers were asked for
 */
export function hintAtIncompleteAnswers(
	{ hint }: Pick<ItemRun, 'hint'>,
	reasons: unknown[],
	asked?: unknown,
): void {
	for (const reason of reasons) {
		if (reason !== 'length' && reason !== 'content_filter') continue;
		hint(`The answer is not complete: ${finishReasons[reason]} (finish_reason ${reason}).`);
	}
	if (reasons.length < Number(asked)) {
		hint(`${reasons.length} of the ${String(asked)} answers came.`);
	}
}
