import { aspectMarkers } from '../../nodes/shared/service/protocol/endpoints';
import { loadPicture } from '../pictures';
import { provocations } from '../prompts';
import { frameSize } from '../rendering';
import { publish, type Service } from '../service';
import { requestOf } from './messages';
import type { ChatOrder } from './order';
import { say, type Reply } from './reply';

const shortSide = 1024;

/** "Endpoints" 10: answers a chat with one image for each choice, made from the images of the messages. */
export async function drawReplies(
	service: Service,
	order: ChatOrder,
	signal: AbortSignal,
): Promise<Reply[]> {
	const { text: prompt, pictures } = requestOf(order.messages);
	const { caption, shape } = readMarker(prompt);
	const images = await Promise.all(pictures.map((picture) => loadPicture(picture, signal)));
	if (prompt.includes(provocations.noImage)) {
		const reply = say('I was asked for an answer without a picture.', order);
		return Array.from({ length: order.choices }, () => reply);
	}
	const size = frameSize(shortSide, shape);
	const note = `${size.width} x ${size.height}`;
	return await Promise.all(
		Array.from({ length: order.choices }, async (_, seed) => {
			const png = await service.draw({ ...size, caption, note, seed, images });
			const picture = publish(service, png);
			const text = `Here is your picture:\n\n![picture](${picture})\n\nTell me what to change.`;
			return { ...say(text, order), picture };
		}),
	);
}

/** Splits the aspect marker off the end of a prompt. Without one, the image is square. */
function readMarker(prompt: string): { caption: string; shape: string } {
	const caption = prompt.trimEnd();
	const marker = aspectMarkers.find((known) => caption.endsWith(known));
	if (!marker) return { caption, shape: '1:1' };
	return { caption: caption.slice(0, -marker.length).trimEnd(), shape: marker.slice(1, -1) };
}
