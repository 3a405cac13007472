import { withGateway } from '../support/http/withGateway';
import { continues, nodeFor, run } from '../support/nodes';

// n8n renders hints and descriptions of errors as HTML or Markdown.

const hostile = '<img src=https://evil.example/a.png> [open](https://evil.example) <b>';
const isRendered = /<[a-z/!?]|\]\(/i;

const { gateway } = withGateway({});

const refusal = () => {
	const error = { message: `no ${hostile}`, type: 'a', param: hostile, code: hostile };
	const headers = { 'x-request-id': hostile };
	const rule = { action: 'answer', status: 400, headers } as const;
	gateway.fault({ ...rule, route: 'chat', body: JSON.stringify({ error }) });
	return nodeFor('chat.complete');
};

it('makes no tag and no link of a text in a hint', async () => {
	const message = { role: 'assistant', content: null, refusal: hostile };
	const body = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
	gateway.fault({ route: 'chat', action: 'answer', body });
	const hints = (await run(gateway, nodeFor('chat.complete'))).hintsOf('Node').join();
	expect(hints).toContain('refused');
	expect(hints).toContain('evil.example');
	expect(hints).not.toMatch(isRendered);
});

it('makes no tag of a text in the message of an error, and no link in its description', async () => {
	const error = (await run(gateway, refusal())).errorOf('Node');
	expect(error?.message).toContain('evil.example/a.png');
	expect(error?.message).not.toMatch(/<[a-z/!?]/i);
	expect(error?.description).toContain('evil.example');
	expect(error?.description).not.toMatch(isRendered);
});

it('keeps a text as it came in the details and in the item of a failure', async () => {
	const result = await run(gateway, { ...refusal(), ...continues });
	const [{ json }] = result.items('Node');
	expect(json.error).toContain(`no ${hostile}`);
	expect(json.details).toMatchObject({ message: expect.stringContaining(`no ${hostile}`) });
});

it('puts a text with line breaks and invisible characters into one readable line', async () => {
	const message = 'first\nsecond\u202e \u0007third\u200b';
	const body = JSON.stringify({ error: { message, code: 'a' } });
	gateway.fault({ route: 'chat', action: 'answer', status: 400, body });
	const error = (await run(gateway, nodeFor('chat.complete'))).errorOf('Node');
	expect(error?.message).toMatch(/first.?second.*third/);
	expect(error?.message).not.toMatch(/[\n\u0007\u200b\u202e]/);
});
