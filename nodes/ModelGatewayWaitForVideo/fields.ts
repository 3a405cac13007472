import type { INodeProperties } from 'n8n-workflow';
import { jobKinds } from '../shared/service/protocol/jobs';
import { limits } from '../shared/service/protocol/limits';
import { fileOutput } from '../shared/n8n/files/fileOutput';
import {
	filledInByModel,
	hiddenForTools,
	toolDescription,
	toolNotice,
} from '../shared/n8n/parameters/editor';
import { choiceField, numberField, textField } from '../shared/n8n/parameters/fieldKinds';
import { jobIdField } from '../shared/n8n/parameters/jobId';
import { includeInputFieldsOption, optionsProperty } from '../shared/n8n/parameters/options';

const taskPollSeconds = jobKinds.task.pollSeconds;
const { minPollSeconds, waitMinutes } = limits;

export const whileWaiting = {
	displayName: 'While Waiting',
	name: 'whileWaiting',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Automatic',
			value: 'auto',
			description:
				'Survives a restart of n8n. Keeps running only if somebody waits for the response.',
		},
		{
			name: 'Survive a Restart',
			value: 'park',
			description:
				'The execution is stored between polls, and notices a finished video up to a minute later',
		},
		{
			name: 'Keep Running',
			value: 'hold',
			description:
				'The execution stays open until the last video is there, and notices each one within seconds',
		},
	],
	default: 'auto',
	displayOptions: hiddenForTools,
	description:
		'What the execution does until the videos are finished. While it is stored, n8n looks for them once a minute.',
} satisfies INodeProperties;

export const keepRunningHint =
	'If n8n stops, press Retry: nothing is ordered again. If a webhook, chat or workflow waits for the response, turn on “Save execution progress” first.';

export const jobId = jobIdField(
	'jobId',
	'{{ $json.output?.task_id ?? $json.task_id ?? $json.id }}',
	`The ID of the video to wait for. Taken from the node that ordered it, unless you give another one. The ID of a reference video is valid for ${limits.taskIdHours} hours.`,
);

export const jobKind = choiceField('jobKind', 'Kind of Job', {
	options: [
		{
			name: 'Automatic',
			value: 'auto',
			description: 'As the item shows. If it does not, the service is asked about both kinds once.',
		},
		{ name: 'Reference Video', value: 'task' },
		{ name: 'Video', value: 'video' },
	],
	default: 'auto',
	displayOptions: hiddenForTools,
	description: 'What the Job ID names, for an ID that comes from no Create',
});

export const file = fileOutput(
	'Whether to download the files. When off, the output has only their links.',
);

export const fileName = textField('fileName', 'File Name', {
	placeholder: "e.g. {{ $('Products').item.json.name }}.mp4",
	displayOptions: hiddenForTools,
	description: 'Name of the file. Default: the ID of the job.',
});

export const maxParallelDownloads = numberField('maxParallelDownloads', 'Max Parallel Downloads', {
	rule: { type: 'number', min: 1 },
	default: 3,
	displayOptions: hiddenForTools,
	description: 'How many files to download at the same time',
});

/** An interval that is shorter than the service allows is lengthened, not refused. */
export const pollInterval = numberField('pollIntervalSeconds', 'Poll Interval (Seconds)', {
	unit: 1000,
	rule: { type: 'number', min: 0 },
	default: taskPollSeconds,
	typeOptions: { minValue: minPollSeconds },
	description: `How often to poll each job, at least ${minPollSeconds}. Default: ${taskPollSeconds} for reference videos, ${jobKinds.video.pollSeconds} for videos.`,
});

export const timeout = numberField('timeoutMinutes', 'Timeout (Minutes)', {
	unit: 60_000,
	rule: { type: 'number', min: 0 },
	default: waitMinutes,
	description:
		'How long to wait for each job. A job that takes longer is not lost: wait for it again. Default: 20, but 40 seconds for MCP clients.',
});

export const fields: INodeProperties[] = [
	toolDescription(
		'Wait for a video, by its job ID, and get its link. Costs nothing, takes minutes.',
	),
	toolNotice(
		'<b>The agent fills in Job ID.</b> If a video takes longer than the Timeout, the agent can call it again, at no cost.',
	),
	...filledInByModel(jobId.property),
	whileWaiting,
	...file.fields.map(({ property }) => property),
	optionsProperty([
		jobKind,
		fileName,
		includeInputFieldsOption,
		timeout,
		pollInterval,
		maxParallelDownloads,
	]),
];
