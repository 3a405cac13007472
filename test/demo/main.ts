import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import pc from 'picocolors';
import { jobKinds } from '../../nodes/shared/service/protocol/jobs';
import { startGateway, type Gateway } from '../../gateway';
import { runWorkflow } from '../harness';
import { checkVideo } from './checks';
import { readExample, settingsOf, withFolder, withSettings } from '../support/workflows/examples';
import { drawPicture, pictures, type Picture } from '../support/files/pictures';
import { reportEvents } from './story';
import { megabytes, print, report } from './terminal';

const repository = path.resolve(__dirname, '../..');
const outputFolder = path.join(repository, 'demo-output');
const exampleFile = 'reference-video-to-file.json';

interface Order {
	name: string;
	prompt: string;
	pictures: [Picture, Picture];
	seconds: number;
}

const orders: Order[] = [
	{
		name: 'walk-on-the-beach',
		prompt: 'The woman of image 1 walks along the beach of image 2 at sunset',
		pictures: ['woman', 'beach'],
		seconds: 4,
	},
	{
		name: 'mug-by-the-sea',
		prompt: 'The mug of image 1 steams in the evening sun on the beach of image 2',
		pictures: ['mug', 'beach'],
		seconds: 6,
	},
];

/** How long the gateway takes to generate a video, in seconds. */
const jobSeconds = 8;

/** The example asks for 720P in 16:9. */
const frame = { width: 1280, height: 720 };

const introduction = `
${pc.bold('Two videos from reference images, generated side by side')}

The workflow, the nodes and n8n's engine are real. The service is the embedded gateway on this
machine, which costs nothing. Its videos move over the images, with the prompt as a caption.
`;

const conclusion = `
${pc.green('All good:')} each file is complete, has the length that was ordered, and is byte for
byte the file that the gateway rendered. Open it in any player.
`;

async function main(): Promise<void> {
	print(introduction);
	const gateway = await startGateway({ jobSeconds });
	try {
		report(`gateway ready at ${gateway.url}`);
		const names = new Map(orders.map(({ prompt, name }) => [prompt, name]));
		reportEvents(gateway, ({ order }) => names.get(order.prompt) ?? order.prompt);
		await runExample(gateway);
		await checkResults(gateway);
	} finally {
		await gateway.close();
	}
}

/** Runs the workflow as it is in the file, with one row of settings for each video. */
async function runExample(gateway: Gateway): Promise<void> {
	const links: Partial<Record<Picture, string>> = {};
	for (const picture of pictures) {
		const png = await drawPicture(picture);
		links[picture] = gateway.addMedia(`${picture}.png`, png, 'image/png');
	}
	report(`reference images are ready: ${pictures.join(', ')}`);
	await rm(outputFolder, { recursive: true, force: true });
	await mkdir(outputFolder);

	const example = withFolder(readExample(exampleFile), outputFolder);
	// "Your Settings" takes its values from rows of input, as the note in the example suggests for many videos.
	const fromRow = Object.fromEntries(
		Object.keys(settingsOf(example)).map((name) => [name, `={{ $json.${name} }}`]),
	);
	const rows = orders.map(({ pictures: [first, second], ...settings }) => ({
		json: {
			...settings,
			picture_1: links[first],
			picture_2: links[second],
		},
	}));
	report(`n8n runs examples/${exampleFile} for ${rows.length} videos`);
	report(`it polls each video every ${jobKinds.task.pollSeconds} s\n`);
	const start = Date.now();
	const run = await runWorkflow(withSettings(example, fromRow), {
		credentials: { modelGatewayApi: { apiKey: gateway.apiKey, baseUrl: gateway.url } },
		filesFolder: outputFolder,
		input: rows,
	});
	const saved = run.items('Save Video').map(({ json }) => String(json.fileName));
	for (const file of saved) report(`n8n saved ${path.relative(repository, file)}`);
	const seconds = ((Date.now() - start) / 1000).toFixed(1);
	report(
		`one video takes ${jobSeconds} s to generate; ${saved.length} side by side took ${seconds} s`,
	);
}

/** Checks the results themselves: reads the files, and compares them with the gateway's copies and charges. */
async function checkResults(gateway: Gateway): Promise<void> {
	print(`\n${pc.bold('The files on disk')}\n`);
	for (const { name, ...order } of orders) {
		const job = gateway.jobs.list().find((one) => one.order.prompt === order.prompt);
		const file = path.join(outputFolder, `my-video-${job?.id}.mp4`);
		const video = await checkVideo(file, { ...order, ...frame }, gateway);
		const facts = [
			name.padEnd(20),
			path.relative(repository, file),
			`${video.seconds} s`,
			`${video.width} x ${video.height}`,
			`H.264 (${video.codec})`,
			megabytes(video.bytes),
			'charged once',
		];
		print(`  ${facts.join('   ')}`);
	}
	const charges = gateway.ledger.length;
	if (charges !== orders.length) {
		throw new Error(`${orders.length} videos were charged ${charges} times`);
	}
	print(conclusion);
}

main().catch((error: Error) => {
	print(`\n${pc.red('The demo failed:')} ${error.message}\n`);
	process.exitCode = 1;
});
