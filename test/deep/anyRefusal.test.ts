import { UnusableResponse } from '../../nodes/shared/gateway/client/response';
import { jobReasonIn, reasonIn } from '../../nodes/shared/gateway/reader/reason';
import { read } from '../../nodes/shared/gateway/reader/values';
import { GatewayError } from '../../nodes/shared/gateway/errors/gatewayError';
import { isObject, parseJson } from '../../nodes/shared/gateway/json';
import { endpoints, type Endpoint } from '../../nodes/shared/gateway/protocol/endpoints';
import { recordOf } from '../../nodes/shared/n8n/errors/errorRecord';
import { anyJson, anyText, jsonText, nearly } from '../support/data/anyJson';
import { fc, tries } from '../support/data/fuzz';
import { gatewayTo } from '../support/workflows/gatewayWorld';
import { expectPlain } from '../support/data/plain';
import { answer, startServer } from '../support/http/scriptedServer';
import { trueAnswers } from '../support/data/trueAnswers';

const error = { message: 'no', type: 'invalid_request_error', param: null, code: 'upstream_error' };
const long = 'x'.repeat(30_000);
const bodies = fc.oneof(
	fc.constant(jsonText({ error: { message: long, type: long, param: long, code: long } })),
	nearly({ error }).map(jsonText),
	nearly({ status: 'failed', output: { error }, failure_reason: 'no' }).map(jsonText),
	anyJson.map(jsonText),
	anyText,
);
const statuses = fc.constantFrom(
	...[200, 201, 204, 206, 301, 302, 304, 307, 400, 401, 403, 404, 408, 409, 418, 425, 429, 451],
	...[500, 502, 503, 504, 599],
);
const headers = fc.dictionary(
	fc.constantFrom('content-type', 'location', 'retry-after', 'x-request-id'),
	fc.constantFrom(
		...[
			'',
			' ',
			'NaN',
			'-1',
			'1',
			'1e9',
			'9'.repeat(400),
			'Wed, 99 Foo 2026',
			'{}',
			'x'.repeat(5000),
		],
		...['text/html', 'video/mp4', 'application/json; charset=utf-16', '/v1/models', 'http://['],
		...['//a.example/v', 'javascript:alert(1)', 'https://a.example/v.mp4'],
	),
);

/** Checks what the editor, the error output and an agent show of a failure. */
function expectReadable(failure: GatewayError): void {
	const { message, advice, status, raw_body = '', ...record } = recordOf(failure);
	expectPlain(failure.failure);
	expectPlain(recordOf(failure));
	expect(message).toMatch(/^Could not ask: \S/);
	expect(message.length).toBeLessThan(1200);
	expect(advice.length).toBeLessThan(1000);
	expect(status).toBeGreaterThanOrEqual(0);
	expect(raw_body.length).toBeLessThanOrEqual(1_000_100);
	for (const name of ['code', 'type', 'param', 'request_id'] as const) {
		expect(['string', 'undefined']).toContain(typeof record[name]);
	}
	for (const name of ['code', 'type', 'param'] as const) {
		expect((record[name] ?? '').length).toBeLessThanOrEqual(101);
	}
}

describe('arbitrary error responses', () => {
	it.each(Object.keys(trueAnswers) as Array<keyof typeof trueAnswers>)(
		'turns any unusable response into a readable error, on the route %s',
		async (route) => {
			let reply = answer(200, '');
			const server = await startServer((...exchange) => reply(...exchange));
			const endpoint: Endpoint = endpoints[route];
			const all = fc.asyncProperty(statuses, headers, bodies, async (status, head, body) => {
				reply = answer(status, body, head);
				const before = server.requests.length;
				const call = gatewayTo(server.url).call({
					...{ endpoint, purpose: 'ask', retries: 1, id: 'job_1' },
					mayLeadToFile: endpoint === endpoints.videoContent,
					parse({ json, isFile, location }) {
						if (isFile || location !== undefined || isObject(json)) return 'usable';
						throw new UnusableResponse('is no object');
					},
				});
				const outcome: unknown = await call.catch((failure: unknown) => failure);
				if (outcome === 'usable') return;
				if (!(outcome instanceof GatewayError)) throw outcome;
				expectReadable(outcome);
				// What arrived may be charged.
				if (outcome.failure.reach === 'unreadable' && endpoint.cost !== 'read') {
					expect(server.requests.length - before).toBe(1);
				}
			});
			await fc.assert(all, tries(60));
		},
	);
});

describe('the reason of a failure', () => {
	it('reads the reason of any refusal or failed job as texts', () => {
		const property = fc.property(bodies, (text) => {
			const body = read(parseJson(text));
			for (const said of [reasonIn(body) ?? {}, jobReasonIn(body)]) {
				expectPlain(said);
				expect(Object.values(said).every((v) => v === undefined || typeof v === 'string')).toBe(
					true,
				);
			}
		});
		fc.assert(property, tries(1000));
	});
});
