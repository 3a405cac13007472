import { box } from './boxes';

/** What begins as an mp4 does and holds nothing but a title: a few bytes, which tell a mix-up of videos. */
export const titledVideo = (title: string): Uint8Array =>
	Buffer.concat([box('ftyp', Buffer.from('isom\0\0\0\0isom')), box('free', Buffer.from(title))]);
