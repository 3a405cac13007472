import { Container } from '@n8n/di';
import { BinaryDataConfig, BinaryDataService } from 'n8n-core';
import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';

import type { WorkflowRun } from './result';

/** The storage of binary data: files, which is n8n's own default, or the items themselves (`default`). */
export type BinaryDataMode = 'filesystem' | 'default';

/** Sets the mode for the whole process: executions that run at the same time share it. */
export async function useBinaryDataMode(mode: BinaryDataMode) {
	Container.get(BinaryDataConfig).mode = mode;
	await Container.get(BinaryDataService).init();
}

function binaryField(item: INodeExecutionData, field: string): IBinaryData {
	const binary = item.binary?.[field];
	if (binary) return binary;
	const fields = Object.keys(item.binary ?? {}).join(', ') || 'none';
	throw new Error(`The item has no binary field "${field}" (it has: ${fields})`);
}

export async function readBinary(item: INodeExecutionData, field = 'data'): Promise<Buffer> {
	return await Container.get(BinaryDataService).getAsBuffer(binaryField(item, field));
}

export async function streamBinary(item: INodeExecutionData, field = 'data'): Promise<Readable> {
	const binary = binaryField(item, field);
	const service = Container.get(BinaryDataService);
	return binary.id
		? await service.getAsStream(binary.id)
		: Readable.from([await service.getAsBuffer(binary)]);
}

interface Execution {
	executionId: string;
	workflowData: { id: string };
}

/** Every file in n8n's binary data storage, of one execution or of all: two for each binary, and partial files. */
export async function storedFiles(execution?: Execution): Promise<string[]> {
	const { localStoragePath } = Container.get(BinaryDataConfig);
	const files = await readdir(localStoragePath, { recursive: true });
	const { executionId = '', workflowData } = execution ?? {};
	const owner = workflowData ? `workflows/${workflowData.id}/executions/${executionId}/` : '';
	return files.filter((file) => file.startsWith(owner) && file.includes('/binary_data/'));
}

/** Does some work while n8n cannot store files, because a file is in the place of its folder. */
export async function withoutStore<Result>(work: () => Promise<Result>): Promise<Result> {
	const folder = path.join(Container.get(BinaryDataConfig).localStoragePath, 'workflows');
	const aside = `${folder}.aside`;
	await mkdir(folder, { recursive: true });
	await rename(folder, aside);
	await writeFile(folder, '');
	try {
		return await work();
	} finally {
		await rm(folder);
		await rename(aside, folder);
	}
}

/** Stores a file as a webhook or a form does: in a temporary folder of n8n. */
export async function receiveFile(bytes: Buffer, data: IBinaryData): Promise<IBinaryData> {
	const location = { type: 'execution', workflowId: 'harness', executionId: 'temp' } as const;
	return await Container.get(BinaryDataService).store(location, bytes, data);
}

/** Moves the files that an execution has received, as n8n does when it stores the execution (restoreBinaryDataId). */
export async function moveReceivedFiles({ executionId, data }: WorkflowRun): Promise<void> {
	const runs = Object.values(data.resultData.runData).flat();
	const items = runs.flatMap((run) => run.data?.main.flatMap((output) => output ?? []) ?? []);
	for (const file of items.flatMap(({ binary }) => Object.values(binary ?? {}))) {
		if (!file.id?.includes('/temp/')) continue;
		const id = file.id.replace('/temp/', `/${executionId}/`);
		const path = (of: string) => of.slice(of.indexOf(':') + 1);
		await Container.get(BinaryDataService).rename(path(file.id), path(id));
		file.id = id;
	}
}

/** Deletes the files of an execution, as n8n does when it deletes the execution. */
export async function deleteFiles({ executionId, workflowData }: Execution) {
	const location = { type: 'execution', workflowId: workflowData.id, executionId } as const;
	await Container.get(BinaryDataService).deleteMany([location]);
}

/**
 * The response of n8n's public address to a link made by `createBinarySignedUrl`. Serve it from the `restApiUrl` given
 * to the run. Throws when the link is invalid or has expired.
 */
export async function openSignedBinary(url: string) {
	const service = Container.get(BinaryDataService);
	const token = new URL(url, 'http://localhost').searchParams.get('token') ?? '';
	const id = service.validateSignedToken(token);
	const { mimeType, fileName } = await service.getMetadata(id);
	return { stream: await service.getAsStream(id), mimeType, fileName };
}
