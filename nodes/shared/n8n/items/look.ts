import { AdaptiveLimit } from '../../service/client/adaptiveLimit';
import { withoutUndefined } from '../../service/json';
import { lookAtLinks, problemOf, type LinkedFile, type Look } from '../../service/jobs/linkLooks';
import type { N8nGateway } from '../client/gateway';
import { badInput, type Problem } from '../errors/badInput';
import type { RunState } from './runState';

/** How many items are looked at side by side. */
const maxLooks = 8;

/** Milliseconds for all links of a list. The rest pass: slow hosts do not hold up the orders. */
const maxTime = 60_000;

/** Looks at the files that the service will fetch, before anything is charged. A file that n8n cannot reach passes. */
export async function lookAtFiles(run: RunState, gateway: N8nGateway): Promise<void> {
	const { linkedFiles } = run.work;
	if (linkedFiles === undefined) return;
	const look = lookAtLinks(gateway);
	const { clock } = gateway.runtime;
	const endsAt = clock.now() + maxTime;
	const lookAt = async ({ url }: LinkedFile) =>
		run.isStopped || clock.now() >= endsAt ? undefined : await look(url);
	await new AdaptiveLimit(maxLooks).forEach(run.open, async (item) => {
		const files = linkedFiles(item.request);
		const seen = await Promise.all(files.map(lookAt));
		const problems = files.flatMap((file, index): Problem[] => {
			const found = seen[index];
			const problem = found && problemOf(found, file);
			return problem === undefined ? [] : [{ field: file.field, problem }];
		});
		if (problems.length > 0) item.objection = badInput(problems).failure;
		if (item.isPreview) item.media = files.map(({ field }, index) => seenOf(field, seen[index]));
	});
}

/** A file as a preview shows it. */
const seenOf = (field: string, look?: Look) =>
	withoutUndefined({
		field,
		file: look?.type?.name ?? 'not reached from n8n',
		bytes: look?.bytes,
		width: look?.size?.width,
		height: look?.size?.height,
	});
