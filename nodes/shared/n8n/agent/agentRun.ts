import type { IExecuteFunctions } from 'n8n-workflow';
import { isObject, valueAt } from '../../service/json';

interface AgentRun {
	/** Each try of the agent has its own. */
	try: object;
	/** The number of the tool's first call in the run. */
	first: number;
}

/** By the data that n8n gives a run of an agent, and by the ID of the tool. */
const agentRuns = new WeakMap<object, Map<string, AgentRun>>();

/**
 * With Retry On Fail, n8n tries an agent again within one run. An agent that runs its tools itself then starts again
 * with its first call. Only two fields of the context, which n8n's types do not have, show it: the data of the run, and
 * a list that each try has of its own.
 * @param next the number of this call, if it is not of a new try
 * @returns the number of the first call of the agent's run, when this call begins another try of it
 */
export function firstCallOfNewTry(context: IExecuteFunctions, next: number): number | undefined {
	const executeData = valueAt(context, 'executeData');
	const closeFunctions = valueAt(context, 'closeFunctions');
	const isOfAgent = 'getNextRunIndex' in context;
	if (!isOfAgent || !isObject(executeData) || !Array.isArray(closeFunctions)) return undefined;
	const tools = agentRuns.get(executeData) ?? new Map<string, AgentRun>();
	agentRuns.set(executeData, tools);
	const { id } = context.getNode();
	const known = tools.get(id);
	if (known?.try === closeFunctions) return undefined;
	tools.set(id, { try: closeFunctions, first: known?.first ?? next });
	return known?.first;
}
