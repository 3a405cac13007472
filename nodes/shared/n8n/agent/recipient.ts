import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import type { JobSummary } from '../../service/errors/jobSummary';
import { toolResult, type Output } from './toolResult';
import { isRunByAgent, isTool } from './tool';

/** The recipient of the node's outputs: the next node, or the model of an agent that called the node as a tool. */
interface Recipient {
	/** Converts an output to the form that the recipient needs. */
	output(output: Output, job: JobSummary | undefined): Output;
	/** The output when the node fails. @throws the failure, where n8n itself reports it */
	failure(error: Error): Output;
}

const nextNode: Recipient = {
	output: (output) => output,
	failure(error) {
		throw error;
	},
};

/** @param linkTo returns a public link to a file of n8n; undefined where this n8n cannot sign links */
export function recipientOf(
	context: IExecuteFunctions,
	linkTo: (file: IBinaryData) => string | undefined,
): Recipient {
	const recipient = { ...nextNode };
	if (isTool(context.getNode())) {
		recipient.output = (output, job) => toolResult(output, job, linkTo);
	}
	// An older agent does not show a tool's error to its model, which may then create the job again.
	if (isRunByAgent(context)) recipient.failure = ({ message }) => ({ json: { error: message } });
	return recipient;
}
