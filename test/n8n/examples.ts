import { readdirSync } from 'node:fs';
import { examplesFolder, readExample, withFolder } from '../support/workflows/examples';
import { drawPicture, pictures, type Picture } from '../support/files/pictures';
import type { Gateway } from '../../gateway';
import type { WorkflowJson } from '../harness/workflow';
import type { Node } from '../support/workflows/workflows';

export const exampleFiles = readdirSync(examplesFolder).filter((file) => file.endsWith('.json'));

/**
 * The example with the settings that a user makes before the first run: links to images that exist, and a folder
 * where n8n may write.
 */
export async function readyExample(
	file: string,
	{ gateway, filesFolder }: { gateway: Gateway; filesFolder: string },
): Promise<WorkflowJson> {
	const links = new Map<Picture, string>();
	for (const name of pictures) {
		links.set(name, gateway.addMedia(`${name}.png`, await drawPicture(name), 'image/png'));
	}
	const example = withFolder(readExample(file), filesFolder);
	const filled = (node: Node): Node => {
		if (node.name !== 'Your Settings') return node;
		const text = JSON.stringify(node).replace(
			/https:\/\/example\.com\/([\w-]+)\.\w+/g,
			(_, name: string) => {
				const own = pictures.find((picture) => picture === name) ?? 'mug';
				return links.get(own) ?? '';
			},
		);
		return JSON.parse(text) as Node;
	};
	return { ...example, nodes: example.nodes.map(filled) };
}
