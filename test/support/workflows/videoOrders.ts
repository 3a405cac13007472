import type { IDataObject, INode } from 'n8n-workflow';
import type { Gateway, RecordedRequest } from '../../../gateway';
import type { WorkflowJson } from '../../harness/workflow';
import { chain, createReferenceVideo, inGroups } from './workflows';

/** A create of reference videos with these options, behind a manual trigger. */
export const orderWorkflow = (
	options: IDataObject = {},
	settings: Partial<INode> = {},
): WorkflowJson =>
	chain(createReferenceVideo({ options: inGroups({ duration: 2, ...options }) }, settings));

export const createsOf = ({ requests }: Gateway): RecordedRequest[] =>
	requests.filter(({ route }) => route === 'referenceVideoCreate');
