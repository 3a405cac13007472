import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Gateway } from '../../gateway';
import { readMp4, type Mp4Facts } from '../support/files/mp4';
import { sha256 } from '../support/data/sha256';

interface ExpectedVideo {
	prompt: string;
	seconds: number;
	width: number;
	height: number;
}

/**
 * Compares a saved file with the order, with the video that the gateway rendered, and with its charges.
 * @throws Error that names the first difference in one sentence
 */
export async function checkVideo(
	file: string,
	expected: ExpectedVideo,
	{ jobs, ledger }: Gateway,
): Promise<Mp4Facts & { bytes: number }> {
	const check = (isRight: boolean, problem: string) => {
		if (!isRight) throw new Error(`${path.basename(file)} ${problem}`);
	};
	const saved = await readFile(file);
	const facts = await readMp4(saved);
	const { seconds, width, height, codec } = facts;
	check(seconds === expected.seconds, `lasts ${seconds} s instead of ${expected.seconds} s`);
	check(
		width === expected.width && height === expected.height,
		`is ${width} x ${height} instead of ${expected.width} x ${expected.height}`,
	);
	check(codec.startsWith('avc1.'), `is encoded as ${codec} instead of H.264`);

	const [job, ...more] = jobs.list().filter(({ order }) => order.prompt === expected.prompt);
	check(more.length === 0, `was ordered ${more.length + 1} times`);
	const rendered = job?.video?.bytes ?? Buffer.alloc(0);
	check(
		saved.length === rendered.length,
		`has ${saved.length} bytes, and the gateway rendered ${rendered.length}`,
	);
	check(sha256(saved) === sha256(rendered), 'is not the file that the gateway rendered');

	const charges = ledger.filter((charge) => charge.job === job?.id).length;
	check(charges === 1, `was charged ${charges} times`);
	return { ...facts, bytes: saved.length };
}
