import type { IDataObject, INode } from 'n8n-workflow';
import type { Gateway, RecordedRequest } from '../../../gateway';
import { type RunOptions, runWorkflow, type WorkflowJson, type WorkflowRun } from '../../harness';
import { chain, createReferenceVideo, credentialFor, inGroups } from './workflows';

/** A create of reference videos with these options, behind a manual trigger. */
export const orderWorkflow = (
	options: IDataObject = {},
	settings: Partial<INode> = {},
): WorkflowJson =>
	chain(createReferenceVideo({ options: inGroups({ duration: 2, ...options }) }, settings));

/** Runs the workflow as n8n runs an active one, with an item for each prompt. */
export const runOrders = async (
	{ gateway, media }: { gateway: Gateway; media: IDataObject[] },
	workflow: WorkflowJson,
	prompts: string[] = ['Waves'],
	options: RunOptions = {},
): Promise<WorkflowRun> =>
	await runWorkflow(workflow, {
		credentials: credentialFor(gateway),
		input: prompts.map((prompt) => ({ json: { prompt, media } })),
		mode: 'trigger',
		...options,
	});

/** The creates of reference videos that the gateway received. */
export const createsOf = ({ requests }: Gateway): RecordedRequest[] =>
	requests.filter(({ route }) => route === 'referenceVideoCreate');
