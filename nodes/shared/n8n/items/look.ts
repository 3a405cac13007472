import { AdaptiveLimit } from '../../service/client/adaptiveLimit';
import { withoutUndefined } from '../../service/json';
import { LinkLooks, problemOf, type Look } from '../../service/jobs/linkLooks';
import type { N8nGateway } from '../client/gateway';
import { badInput, type Problem } from '../errors/badInput';
import type { RunState } from './runState';

/** Maximum number of links that are looked at side by side. */
const maxLooks = 20;

/**
 * Looks at the files that the service will fetch, before anything is paid for: an order that surely cannot work is not
 * placed. Whatever cannot be reached from n8n passes.
 */
export async function lookAtFiles(run: RunState, gateway: N8nGateway): Promise<void> {
	const { linkedFiles } = run.work;
	if (linkedFiles === undefined) return;
	const looks = new LinkLooks(gateway);
	const files = run.open.flatMap((item) =>
		linkedFiles(item.request).map((file) => ({ item, file, look: undefined as Look | undefined })),
	);
	await new AdaptiveLimit(maxLooks).forEach(files, async (each) => {
		if (!run.isStopped) each.look = await looks.at(each.file.url);
	});
	const problems = new Map<(typeof files)[number]['item'], Problem[]>();
	for (const { item, file, look } of files) {
		(item.media ??= []).push(seenOf(file.field, look));
		const problem = look && problemOf(look, file);
		if (problem === undefined) continue;
		problems.set(item, [...(problems.get(item) ?? []), { field: file.field, problem }]);
	}
	for (const [item, all] of problems) item.objection = badInput(all).failure;
}

/** What a preview shows of a file. */
const seenOf = (field: string, look: Look | undefined) =>
	withoutUndefined({
		field,
		file: look?.type?.name ?? 'not reached from n8n',
		bytes: look?.bytes,
		width: look?.size?.width,
		height: look?.size?.height,
	});
