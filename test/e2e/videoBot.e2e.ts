import type { IWorkflowBase } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sampleVideo, titleOf, withTitle } from '../support/data/samples';
import { packInto } from '../support/files/packed';
import { startN8n, type N8n } from '../n8n/n8n';
import { isUnderWay, Owner } from '../n8n/owner';
import { recommendedEnv } from '../n8n/queueSettings';
import { openTelegram, type Sent, type Telegram, type Update } from '../n8n/telegram';
import { openStage, type Stage } from './support/stage';
import { until, within } from '../support/time/until';
import { readExample } from '../support/workflows/examples';
import { withCredential } from '../support/workflows/workflows';

const message = (number: number, text?: string): Update => ({
	update_id: 7_000_000 + number,
	// Some chats order several videos.
	message: { message_id: number, chat: { id: 100 + (number % 7), type: 'private' }, text },
});
const boats = Array.from({ length: 20 }, (_, index) => message(index, `Boat_<${index}> & I`));
const broken = message(20, '/video Two moons');
const textless = [message(21, '/start'), message(22)];

/** In any order: the chat, the message that it replies to, the text, and the title of the video. */
const linesOf = (all: readonly Sent[]) =>
	all
		.map(({ chat, replyTo = '', text, video }) =>
			[chat, replyTo, text, video ? titleOf(video) : ''].join(' | '),
		)
		.sort();
const replies = (updates: Update[], text: string): Sent[] =>
	updates.map(({ message: { chat, message_id } }) => ({
		chat: chat.id,
		replyTo: message_id,
		text,
	}));

/** Many people write to a bot, and n8n is killed before any of the videos is ready. */
describe('video-bot.json', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-bot-'));
	// n8n may end and empty an execution that is due while it starts: docs/reliability.md, "Known limitations".
	const { N8N_DISABLED_MODULES: modules } = recommendedEnv('main');
	const env = modules ? { N8N_DISABLED_MODULES: modules } : undefined;
	let n8n: N8n;
	let owner: Owner;
	let stage: Stage;
	let telegram: Telegram;
	let workflow: IWorkflowBase;
	const executions = async () => await owner.executionsOf(workflow, 100);

	beforeAll(async () => {
		telegram = await openTelegram();
		n8n = await startN8n({ tarball: packInto(folder).tarball, folder, env });
		stage = await openStage({ jobSeconds: Infinity }, n8n);
		({ owner } = stage);
		const telegramApi = await owner.createCredentialOf('telegramApi', telegram.credential);
		const { nodes, ...rest } = withCredential(readExample('video-bot.json'), stage.credential);
		workflow = await owner.createPublished({
			...rest,
			nodes: nodes.map((node) => ({
				...node,
				...(/\.telegram/.test(node.type) && { credentials: { telegramApi } }),
				...(/Trigger$/.test(node.type) && { webhookId: randomUUID() }),
			})),
		});
	}, 180_000);
	afterAll(async () => {
		await stage?.close();
		await n8n?.kill();
		await telegram?.close();
		rmSync(folder, { recursive: true, force: true });
	});

	it('the bot answers each message before its video is ready, and orders it once', async () => {
		// Telegram sends an update again when it misses the response.
		const repeated = boats.filter((_, index) => index % 4 === 0);
		const all = [...boats, ...repeated, broken, ...textless];
		await Promise.all(all.map(async (update) => await telegram.deliver(update)));
		await until(async () => {
			const started = await executions();
			return started.length === all.length && !started.some(isUnderWay);
		});
		expect(stage.gateway.ledger).toHaveLength(21);
		expect(linesOf(telegram.sent)).toEqual(
			linesOf([
				...replies(
					[...boats, broken],
					'Your video is being made. It comes into this chat, usually in about 3 minutes.',
				),
				...replies(textless, 'Write what happens in your video.'),
			]),
		);
	});

	it('each video comes into its chat once, although n8n was killed after the orders', async () => {
		await n8n.kill();
		n8n = await startN8n({ folder, port: Number(new URL(n8n.url).port), env });
		owner = await Owner.of(n8n);
		await Promise.all(boats.slice(0, 5).map(async (update) => await telegram.deliver(update)));
		const video = await sampleVideo();
		for (const { id, order } of stage.gateway.jobs.list()) {
			const { prompt } = order;
			if (prompt === 'Two moons') stage.gateway.jobs.fail(id, { message: 'no <moon> here' });
			else stage.gateway.jobs.complete(id, withTitle(video, prompt));
		}
		// n8n may show an execution as crashed until it resumes.
		const states = async () => (await executions()).map(({ status }) => status);
		await within(async () => (await states()).every((status) => status === 'success'), 240);
		expect(await states()).toEqual(Array.from({ length: 33 }, () => 'success'));
		expect(linesOf(telegram.sent.slice(23))).toEqual(
			linesOf([
				...boats.map(({ message: { chat, text = '' } }) => ({
					chat: chat.id,
					text,
					video: withTitle(video, text),
				})),
				...replies([broken], 'There is no video: no &lt;moon> here'),
			]),
		);
		expect(stage.gateway.ledger).toHaveLength(21);
	}, 300_000);
});
