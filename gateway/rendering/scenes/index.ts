import { decodeImage } from '../image';
import { randomFrom, type Random } from '../../random';
import type { ReferenceMedia, RenderSpec, Size } from '../spec';
import { closingIn, drifting } from './camera';
import { gradientScene } from './gradient';
import type { Scene } from './scene';
import { stillScene } from './still';

export type { Moment } from './scene';

/**
 * Opens the scenes of a video: the first frame, then the references in their order, or a scene made from the caption
 * when there are no media. Rejects with an error that names the media item.
 */
export async function openScenes({ media, caption, seed, ...frame }: RenderSpec): Promise<Scene[]> {
	const randomOf = (index: number) => randomFrom(JSON.stringify([caption, seed, index]));
	if (media.length === 0) return [gradientScene(frame, randomOf(0))];
	const scenes = await Promise.all(
		media.map(async (item, index) => {
			try {
				return { rank: rank(item), scene: await openScene(item, frame, randomOf(index)) };
			} catch (cause) {
				const name = `media[${index}] (${item.type})`;
				throw new Error(`${name}: ${(cause as Error).message}`, { cause });
			}
		}),
	);
	return scenes.sort((one, other) => one.rank - other.rank).map(({ scene }) => scene);
}

function rank({ type }: ReferenceMedia): number {
	return type === 'first_frame' ? 0 : 1;
}

async function openScene(
	{ type, bytes }: ReferenceMedia,
	frame: Size,
	random: Random,
): Promise<Scene> {
	// A reference video is not played. Lights in its own colours stand for it.
	if (type === 'reference_video') return gradientScene(frame, random);
	const camera = type === 'first_frame' ? closingIn(random) : drifting(random);
	return stillScene(await decodeImage(bytes), frame, camera);
}
