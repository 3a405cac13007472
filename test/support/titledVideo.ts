/** A box of an mp4 file. */
const box = (type: string, content: string) => {
	const bytes = Buffer.alloc(8 + Buffer.byteLength(content));
	bytes.writeUInt32BE(bytes.length);
	bytes.write(type + content, 4);
	return bytes;
};

/** What begins as an mp4 does and holds nothing but a title: a few bytes, which tell a mix-up of videos. */
export const titledVideo = (title: string): Uint8Array =>
	Buffer.concat([box('ftyp', 'isom\0\0\0\0isom'), box('free', title)]);
