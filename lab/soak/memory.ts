import { median } from '../statistics';

interface Sample {
	heap: number;
	rss: number;
}

const sampleSeconds = 5;

/** Samples the memory of this process after a garbage collection, in megabytes. */
export class MemoryWatch {
	private readonly samples: Sample[] = [];
	private readonly timer = setInterval(() => this.sample(), sampleSeconds * 1000);

	sample(): Sample {
		globalThis.gc?.();
		const { heapUsed, rss } = process.memoryUsage();
		const sample = { heap: heapUsed / 1e6, rss: rss / 1e6 };
		this.samples.push(sample);
		return sample;
	}

	end(): void {
		clearInterval(this.timer);
	}

	/** Growth from the second quarter of the time to the last one: the first loads code and fills caches. */
	growth(what: keyof Sample): { before: number; after: number } {
		const quarter = Math.floor(this.samples.length / 4);
		const level = (samples: Sample[]) => median(samples.map((sample) => sample[what]));
		return {
			before: level(this.samples.slice(quarter, 2 * quarter)),
			after: level(this.samples.slice(-quarter)),
		};
	}
}
