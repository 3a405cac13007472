import { createFile, type Movie } from 'mp4box';

export interface Mp4Facts {
	/** Length of the video track, in seconds. */
	seconds: number;
	width: number;
	height: number;
	/** For example `avc1.64001f`. */
	codec: string;
	frames: number;
}

/** Reads an mp4 with a parser that is independent of the encoder. Throws when the file is not an mp4. */
export async function readMp4(bytes: Uint8Array): Promise<Mp4Facts> {
	const movie = await new Promise<Movie>((resolve, reject) => {
		const file = createFile();
		file.onReady = resolve;
		file.onError = (module: string, message: string) => reject(new Error(`${module}: ${message}`));
		const buffer = new Uint8Array(bytes).buffer;
		file.appendBuffer(Object.assign(buffer, { fileStart: 0 }));
		file.flush();
		// The parser has called back by now, if it found a movie at all.
		reject(new Error('it holds no movie'));
	});
	const [track] = movie.videoTracks;
	if (!track?.video) throw new Error('it has no picture track');
	return {
		seconds: track.samples_duration / track.timescale,
		width: track.video.width,
		height: track.video.height,
		codec: track.codec,
		frames: track.nb_samples,
	};
}
