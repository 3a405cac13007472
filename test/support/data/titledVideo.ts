import { box } from '../files/boxes';

/** A file that begins like an mp4 and contains only a title: a few bytes that reveal a mix-up of videos. */
export const titledVideo = (title: string): Uint8Array =>
	Buffer.concat([box('ftyp', Buffer.from('isom\0\0\0\0isom')), box('free', Buffer.from(title))]);
