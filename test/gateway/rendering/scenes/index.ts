import { decodeImage } from '../image';
import { randomFrom, type Random } from '../random';
import type { ReferenceMedia, RenderSpec, Size } from '../spec';
import { closingIn, drifting } from './camera';
import { gradientScene } from './gradient';
import type { Scene } from './scene';
import { stillScene } from './still';
import { videoScene } from './video';

export type { Moment, Scene } from './scene';

/**
 * Opens the scenes of a video: the first frame, then the references in their order, or a scene made from the
 * caption when there are none. Their errors, then and later, name the media item.
 */
export async function openScenes(spec: RenderSpec): Promise<Scene[]> {
	const { media, caption, seed } = spec;
	const randomOf = (index: number) => randomFrom(JSON.stringify([caption, seed, index]));
	if (media.length === 0) return [gradientScene(spec, randomOf(0))];
	const firstFrameFirst = media
		.map((item, index) => ({ item, index }))
		.sort((one, other) => rank(one.item) - rank(other.item));
	return await Promise.all(
		firstFrameFirst.map(async ({ item, index }) => {
			const name = `media[${index}] (${item.type})`;
			const scene = await naming(name, () => openScene(item, spec, randomOf(index)));
			return {
				...scene,
				draw: (context, moment) => naming(name, () => scene.draw(context, moment)),
			} satisfies Scene;
		}),
	);
}

function rank({ type }: ReferenceMedia): number {
	return type === 'first_frame' ? 0 : 1;
}

async function openScene(
	{ type, bytes }: ReferenceMedia,
	frame: Size,
	random: Random,
): Promise<Scene> {
	if (type === 'reference_video') return await videoScene(bytes);
	const camera = type === 'first_frame' ? closingIn(random) : drifting(random);
	return stillScene(await decodeImage(bytes), frame, camera);
}

async function naming<Value>(name: string, work: () => Promise<Value> | Value): Promise<Value> {
	try {
		return await work();
	} catch (cause) {
		throw new Error(`${name}: ${(cause as Error).message}`, { cause });
	}
}
