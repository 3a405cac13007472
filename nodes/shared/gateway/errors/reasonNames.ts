/** The names under which services say why something failed. */

/** Services spell `error_msg` in many ways. */
export const plainName = (name: string): string => name.toLowerCase().replaceAll('_', '');

/** Names of fields that say why, and in a job may also be about the call or the progress. */
export const remarkNames = [
	...['message', 'msg', 'status_message', 'status_msg', 'task_status_msg', 'detail', 'reason'],
].map(plainName);
/** Names of fields that only something that failed has. */
export const causeNames = [
	...['error', 'errors', 'error_description', 'error_message', 'error_msg', 'err_msg', 'fail_msg'],
	...['fail_reason', 'failed_reason', 'failure_reason', 'fail_message', 'failure_message'],
].map(plainName);
/** From the general to the particular; `error` itself is read before. They may be texts, or objects and lists of them. */
export const messageNames = [
	...['title', ...remarkNames, 'fault_string', 'description', 'exception', 'details'],
	...causeNames.filter((name) => name !== 'error'),
].map(plainName);
export const codeNames = ['code', 'error_code', 'err_code'].map(plainName);
/** Names of objects that may have the error object in them. */
export const wrapperNames = [
	...['fault', 'base_resp', 'response', 'response_metadata', 'result', 'output', 'data'],
].map(plainName);
/** All of them, except the objects. */
export const reasonNames: ReadonlySet<string> = new Set([...messageNames, ...causeNames]);
