import { setTimeout } from 'node:timers/promises';
import { recommendedEnv } from '../../../test/n8n/queueSettings';
import { chargesOf } from '../../../test/n8n/charges';
import { isOpen } from '../../../test/n8n/owner';
import { within } from '../../../test/support/time/until';
import { none, type Figure } from '../../report';
import { fromNowOn } from '../aftermath';
import { Deployment } from '../deployment';
import { benchOf, reporter, summaryOf, timedVideos } from './trial';

const calls = 16;
const delay = 300;
/** Seconds after which a caller gives up. */
const maxSeconds = 60;

export const slowTitle = `PostgreSQL takes ${delay} ms longer for a message`;

/** Many webhook calls at once while n8n's database is slow, with n8n's pool of connections and with a larger one. */
export async function measureSlowDatabase(): Promise<Figure[]> {
	const sizes = ['2', recommendedEnv('webhook').DB_POSTGRESDB_POOL_SIZE];
	const figures: Figure[] = [];
	for (const size of sizes) figures.push(...(await callSlowly(size)));
	return figures;
}

async function callSlowly(poolSize: string): Promise<Figure[]> {
	const options = {
		gateway: timedVideos(),
		hasDatabaseProxy: true,
		env: { DB_POSTGRESDB_POOL_SIZE: poolSize },
	};
	return await Deployment.with(options, async (deployment) => {
		const title = `${slowTitle}, pool of ${poolSize}`;
		const report = reporter(title);
		const { video } = await benchOf(deployment);
		// n8n reports a workflow as published a moment before its webhook works.
		await deployment.call('video', { name: 'first' });
		const executions = await fromNowOn(deployment, [video]);
		const names = Array.from({ length: calls }, (_, index) => `${title} ${index}`);
		deployment.databaseProxy?.delay(delay);
		const results = await Promise.all(names.map(async (name) => await resultOf(deployment, name)));
		const count = (result: string) => results.filter((one) => one === result).length;
		for (const result of new Set(results)) report(`${count(result)} webhook calls: ${result}`);
		await setTimeout(maxSeconds * 1000);
		deployment.databaseProxy?.delay(0);
		await within(async () => !(await executions()).some(isOpen), 200);
		report(summaryOf(await executions()));
		const charges = names.map((name) => chargesOf(deployment.gateway, name));
		const failedAndCharged = charges.filter(
			(number, index) => number > 0 && results[index] !== '200',
		);
		const answered = count('200');
		const hung = count('no response');
		return [
			{
				figure: `${title}: webhook calls answered, failed, hung`,
				value: `${answered}, ${calls - answered - hung}, ${hung} of ${calls}`,
			},
			{
				figure: `${title}: ordered`,
				value: `${charges.filter((number) => number > 0).length} of ${calls}; without a response to the webhook: ${failedAndCharged.length}`,
			},
			none(`${title}: charged twice`, charges.filter((number) => number > 1).length),
		];
	});
}

/** @returns the status of the response, or `no response` */
async function resultOf({ webhook }: Deployment, name: string): Promise<string> {
	const url = `${webhook.url}/webhook/video?${new URLSearchParams({ name })}`;
	const signal = AbortSignal.timeout(maxSeconds * 1000);
	const response = await fetch(url, { signal }).catch(() => undefined);
	return response ? String(response.status) : 'no response';
}
