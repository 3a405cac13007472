import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { sampleVideo, sha256 } from '../../engine/support/samples';
import type { Gateway, Job, RecordedRequest } from '../../gateway';
import type { WorkflowJson } from '../../harness/workflow';
import { readyExample } from './examples';

/** An execution, and the videos that it has ordered. */
export interface Order {
	id: string;
	jobs: Job[];
}

/** What executions order of a gateway, what they pay for, and what they save. */
export class Orders {
	/** @param folder where n8n may write */
	constructor(
		private readonly gateway: Gateway,
		private readonly folder: string,
	) {}

	/** An example that saves its videos in a folder of its own. */
	async example(name: string, file: string): Promise<WorkflowJson> {
		const filesFolder = path.join(this.folder, name);
		mkdirSync(filesFolder);
		return await readyExample(file, { gateway: this.gateway, filesFolder });
	}

	/** Hashes of what was saved, by the name of the file. */
	saved(name: string): Record<string, string> {
		const own = path.join(this.folder, name);
		const files = readdirSync(own).sort();
		return Object.fromEntries(
			files.map((file) => [file, sha256(readFileSync(path.join(own, file)))]),
		);
	}

	/** Every job gets a video of its own, so that a mix-up shows. */
	async finish(jobs: Job[]): Promise<void> {
		for (const { id } of jobs) this.gateway.jobs.complete(id, await sampleVideo(id));
	}

	/** All polls, or those of an order. */
	polls(order?: Order): RecordedRequest[] {
		const isOfOrder = ({ jobId }: RecordedRequest) => order?.jobs.some(({ id }) => id === jobId);
		return this.gateway.requests.filter(
			(request) => request.route === 'task' && (isOfOrder(request) ?? true),
		);
	}

	/** How often each job was charged. */
	charges({ jobs }: Order): number[] {
		return jobs.map(({ id }) => this.gateway.ledger.filter((charge) => charge.job === id).length);
	}
}

export const hashOf = ({ video }: Job): string | undefined => video && sha256(video.bytes);
