import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { noResponse, refused, unreadable } from '../../nodes/shared/gateway/errors/requestErrors';
import { shown } from '../support/gatewayWorld';

const root = path.join(__dirname, '../..');
const create = { purpose: 'create the video', cost: 'job' } as const;
const answerOf = (status: number, text: string) => ({ status, headers: {}, text });
const undelivered = JSON.stringify({ error: { code: 'write_response_body_failed' } });

describe('the advice on an order whose outcome is unknown', () => {
	it.each([
		['no response came', noResponse(create, new Error('read ECONNRESET'))],
		['a proxy answered', refused(create, answerOf(502, '<html>'))],
		['the response could not be delivered', refused(create, answerOf(500, undelivered))],
	])('says that it is not billed, and that its job may run all the same: %s', (_, error) => {
		const { advice, billed, retry_can_help } = shown(error).record;
		expect([billed, retry_can_help]).toEqual(['unknown', false]);
		expect(advice).toMatch(/does not bill a call without a response/);
		expect(advice).toMatch(/does not say whether its job runs all the same/);
		expect(advice).toMatch(/Order again only if a second video is acceptable/);
		expect(advice).not.toMatch(/run again|look into/i);
	});

	it('does not say that it was not sent again where the user wants it to be', () => {
		const error = noResponse({ ...create, resendsLost: true }, new Error('read ECONNRESET'));
		const { advice } = shown(error).record;
		expect(advice).toMatch(/more than one job may have been accepted/);
		expect(advice).toMatch(/Order again only if a second video is acceptable\./);
		expect(advice).not.toMatch(/was not sent again|Send Again/);
	});

	it('promises nothing about money where a 2xx status came', () => {
		const { advice } = shown(unreadable(create, answerOf(200, ''), 'is empty')).record;
		expect(advice).not.toMatch(/does not bill|not billed/);
		expect(advice).toMatch(/Order again only if a second video is acceptable/);
	});
});

/** What users read. */
const files = ['README.md', ...['docs', 'examples', 'nodes'].flatMap(textsBelow)];

function textsBelow(folder: string): string[] {
	return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => /\.(md|json|ts)$/.test(name))
		.map((name) => path.join(folder, name));
}

it('sends nobody to the billing log for what only a charge would show', () => {
	const sent = files.flatMap((name) =>
		(readFileSync(path.join(root, name), 'utf8').match(/[^.|\n]*billing log[^.|\n]*/gi) ?? [])
			.filter(
				(sentence) => !/lists only what was charged|proves nothing|never showed/.test(sentence),
			)
			.map((sentence) => `${name}: ${sentence.trim()}`),
	);
	expect(sent).toEqual([]);
});
