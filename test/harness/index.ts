/**
 * Runs workflow JSON through n8n's real engine, with n8n's own core nodes and the sources of this package.
 * Works under jest and in a plain script (the demo, the benchmarks).
 */
import './setup';

export {
	deleteFiles,
	moveReceivedFiles,
	openSignedBinary,
	receiveFile,
	storedFiles,
	withoutStore,
} from './binary';
export { testCredential } from './credentialTest';
export { listSearch } from './dropdowns';
export type { StoredExecution } from './execution';
export { replaceParking, runSteps } from './nextEngine';
export { EngineProcess } from './process';
export { processedItems } from './processedItems';
export { isKnownPackage, nodeTypes, registerTypes } from './registry';
export type { WorkflowRun } from './result';
export {
	recoverExecution,
	repeatExecution,
	resumeExecution,
	resumeToEnd,
	retryExecution,
} from './retry';
export { runWorkflow, type RunOptions } from './run';
export { storedExecution, storeFile } from './stored';
export { SimulatedTime } from './time';
export type { WorkflowJson } from './workflow';
