import type { IExecuteFunctions } from 'n8n-workflow';
import { Redaction } from '../../../../nodes/shared/service/client/redaction';
import {
	events,
	facts,
	NodeLog,
	type EventDetails,
} from '../../../../nodes/shared/n8n/log/nodeLog';
import { read } from '../../../support/files/repository';
import { executeContext } from '../../../support/workflows/executeContext';

const key = 'sk-unit-0123456789';

/** The call of n8n's logger for one event. */
function logged(details: EventDetails, more: Partial<IExecuteFunctions> = {}) {
	const lines: Array<{ message: string; metadata: Record<string, unknown> }> = [];
	const logger = {
		warn: (message: string, metadata: Record<string, unknown>) => lines.push({ message, metadata }),
	};
	const context = { ...executeContext(), logger, ...more };
	const log = new NodeLog(context as IExecuteFunctions, new Redaction(key));
	log.write('job failed', details);
	expect(lines).toHaveLength(1);
	return lines[0];
}

const named = (name: string) => ({
	getWorkflow: () => ({ id: '7', name, active: true }),
});

/** The facts of a message, as a program would read them. */
function factsIn(message: string): Record<string, string> {
	const pairs = message.matchAll(/ (\w+)=("(?:[^"\\]|\\.)*"|[^ ]+)/g);
	return Object.fromEntries(
		[...pairs].map(([, name, value]) => [
			name,
			value.startsWith('"') ? (JSON.parse(value) as string) : value,
		]),
	);
}

describe('a line of the log', () => {
	it('has the same facts in its message and in its metadata', () => {
		const job = { id: 'job_1', status: 'FAILED', progress: 40, request_id: 'req_1' };
		const details = { item: 0, model: 'a model', job, estimatedCost: 0.5 };
		const { message, metadata } = logged(details, named('Say "hi"'));
		expect(message).toBe(
			'Model Gateway: job failed executionId=1 workflowId=7 workflowName="Say \\"hi\\"" node=Node item=0 model="a model" jobId=job_1 jobStatus=FAILED progress=40 estimatedCost=0.5 requestId=req_1',
		);
		const { event, ...facts } = metadata;
		expect(event).toBe('job failed');
		expect(factsIn(message)).toEqual(
			Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, String(value)])),
		);
	});

	it.each([
		['a line break', 'a\nModel Gateway: order created jobId=forged'],
		['an escape sequence', '\u001b[2K\u001b[1A'],
		['quotes and pairs', '" jobId=forged model="x'],
		['a long text', 'word '.repeat(1_000_000)],
	])('stays one bounded line with %s in a name or in an ID', (_, text) => {
		const { message, metadata } = logged({ job: { id: text }, model: text }, named(text));
		expect(message).toMatch(/^Model Gateway: job failed [^\p{Cc}\p{Zl}\p{Zp}\p{Cf}\p{Cs}]+$/u);
		expect(message.length).toBeLessThan(1_200);
		expect(Object.keys(factsIn(message))).toEqual([
			'executionId',
			'workflowId',
			'workflowName',
			'node',
			'model',
			'jobId',
		]);
		expect(String(metadata.workflowName).length).toBeLessThanOrEqual(301);
		expect(factsIn(message).jobId).toBe(metadata.jobId);
	});

	it.each([
		['as it is', key],
		['in the encoding of a URL', encodeURIComponent(`&${key}`).replaceAll('-', '%2D')],
		['at the end of what is read', 'x'.repeat(1_000 - key.length + 2) + key],
		['behind the end of what is shown', 'x'.repeat(295) + key],
		['split by invisible characters', `${key.slice(0, 9)}\u200b${key.slice(9)}`],
	])('never shows the key: %s', (_, text) => {
		const { message, metadata } = logged({ job: { id: text }, problem: text }, named(text));
		for (const shown of [message, JSON.stringify(metadata)]) {
			expect(shown).not.toContain(key);
			expect(shown).not.toContain(encodeURIComponent(key).replaceAll('-', '%2D'));
			expect(shown).not.toContain(key.slice(0, key.length - 2));
		}
	});
});

it('docs/monitoring.md says what each event and each fact means, and names the level', () => {
	const page = read('docs/monitoring.md');
	const rowsOf = (section: string) => {
		const [, rows] = page.split(new RegExp(`<!-- (?:end of )?${section} -->`));
		return [...rows.matchAll(/^\| `(.+?)` +\| (\S+)/gm)].map(([, ...cells]) => cells);
	};
	expect(rowsOf('events')).toEqual(Object.entries(events));
	expect(rowsOf('facts').map(([name]) => name)).toEqual(facts);
});
