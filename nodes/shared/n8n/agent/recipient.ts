import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import { emptyToolResult, toolResult, type Output } from './answers';
import { isRunByAgent, isTool } from './tool';

/** Who gets what the node gives: the next node, or the model of an agent that called it as a tool. */
export interface Recipient {
	/** An output as it has to know it. */
	output(output: Output, job: JobSummary | undefined): Output;
	/** What it gets where there is no output at all. */
	nothing: Output[];
	/** What it gets when the node fails. @throws the failure, where n8n itself hands it on */
	failure(error: Error): Output;
}

const nextNode: Recipient = {
	output: (output) => output,
	nothing: [],
	failure(error) {
		throw error;
	},
};

/** @param linkTo a link to a file of n8n that anybody can open; undefined where this n8n signs none */
export function recipientOf(
	context: IExecuteFunctions,
	linkTo: (file: IBinaryData) => string | undefined,
): Recipient {
	const recipient = { ...nextNode };
	if (isTool(context.getNode())) {
		recipient.output = (output, job) => toolResult(output, job, linkTo);
		recipient.nothing = [emptyToolResult];
	}
	// An older agent tells its model nothing of a tool that throws, and the model may order again.
	if (isRunByAgent(context)) recipient.failure = ({ message }) => ({ json: { error: message } });
	return recipient;
}
