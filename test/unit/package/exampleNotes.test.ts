import { readdirSync } from 'node:fs';
import { examplesFolder, readExample } from '../../support/workflows/examples';

const files = readdirSync(examplesFolder).filter((file) => file.endsWith('.json'));

/** The canvas of a window of 1600 x 800 pixels, of which n8n fills so much with a workflow that it opens. */
const canvas = { width: 0.835 * 1558, height: 0.835 * 698 };

/** In pixels at zoom 1, a node with its label. */
const node = { width: 96, height: 96 + 44 };
const note = {
	padding: 12,
	character: 6.7,
	line: 19,
	gap: 8,
	entryGap: 3,
	headingCharacter: 11.2,
	headingLine: 28,
};

interface Box {
	name: string;
	left: number;
	top: number;
	width: number;
	height: number;
	text: string;
}

function boxesOf(file: string): { notes: Box[]; nodes: Box[] } {
	const boxes = readExample(file).nodes.map((each): Box & { isNote: boolean } => {
		const isNote = each.type === 'n8n-nodes-base.stickyNote';
		const { width = node.width, height = node.height, content = '' } = each.parameters ?? {};
		const [left, top] = each.position ?? [0, 0];
		const size = { width: Number(width), height: Number(height) };
		return { name: each.name, left, top, ...size, text: String(content), isNote };
	});
	return {
		notes: boxes.filter(({ isNote }) => isNote),
		nodes: boxes.filter(({ isNote }) => !isNote),
	};
}

/** At most as high as n8n shows the text, or a little more. */
function textHeight({ text, width }: Box): number {
	const room = width - 2 * note.padding;
	const heights = text
		.split('\n')
		.filter((line) => line.trim())
		.map((line) => {
			const isHeading = line.startsWith('#');
			const isEntry = /^\s*(?:[-*]|\d+\.) /.test(line);
			const characters = line.replace(/[*`#]|\]\([^)]*\)/g, '').length;
			const [character, height] = isHeading
				? [note.headingCharacter, note.headingLine]
				: [note.character, note.line];
			const lines = Math.ceil((characters * character) / (isEntry ? room - 24 : room));
			return lines * height + (isEntry ? note.entryGap : note.gap);
		});
	return 2 * note.padding + heights.reduce((sum, height) => sum + height, 0);
}

const isInside = (box: Box, { left, top, width, height }: Box) =>
	box.left < left + width &&
	box.left + box.width > left &&
	box.top < top + height &&
	box.top + box.height > top;

describe('the notes of an example', () => {
	it.each(files)('can be read at the zoom in which n8n opens %s', (file) => {
		const { notes, nodes } = boxesOf(file);
		const all = [...notes, ...nodes];
		const left = Math.min(...all.map((box) => box.left));
		const top = Math.min(...all.map((box) => box.top));
		const width = Math.max(...all.map((box) => box.left + box.width)) - left;
		const height = Math.max(...all.map((box) => box.top + box.height)) - top;
		const zoom = Math.min(1, canvas.width / width, canvas.height / height);
		// The text has 14 pixels at zoom 1.
		expect(14 * zoom).toBeGreaterThanOrEqual(10);
	});

	it.each(files)('has no more than 75 words in a note of %s', (file) => {
		const long = boxesOf(file).notes.filter(({ text }) => text.split(/\s+/).length > 75);
		expect(long.map(({ name }) => name)).toEqual([]);
	});

	it.each(files)('shows its whole text above the nodes in %s', (file) => {
		const { notes, nodes } = boxesOf(file);
		const covered = notes.filter((box) => {
			const end = box.top + textHeight(box);
			const inside = nodes.filter((each) => isInside(each, box));
			return end > box.top + box.height || inside.some(({ top }) => top < end);
		});
		expect(covered.map(({ name }) => name)).toEqual([]);
	});
});
