import { startBreakingTls } from '../support/http/breakingTls';
import { publicUrl } from '../support/http/publicNames';
import { withGateway } from '../support/http/withGateway';
import { detailsOf, nodeFor, run } from '../support/nodes';

const { gateway } = withGateway({ isTimeSimulated: true });

/** The gateway behind a certificate that nobody has issued. */
const front = () =>
	startBreakingTls(gateway.url, { version: 'TLSv1.3', at: 'connected', by: 'end', times: 0 });

it('sends nothing to a gateway whose certificate is not accepted', async () => {
	const { url, close } = await front();
	for (const name of ['chat.complete', 'video.create', 'model.getAll'] as const) {
		const details = await detailsOf({ url, apiKey: gateway.apiKey }, name);
		expect(details).toMatchObject({ billed: 'no', status: 0 });
		expect(`${String(details.message)} ${String(details.advice)}`).toMatch(/certificate/i);
	}
	await close();
	expect(gateway.requests).toEqual([]);
});

it('fetches no file from a host whose certificate is not accepted', async () => {
	const { url, close } = await front();
	const data = [{ url: `${url}/v1/models` }];
	gateway.fault({ route: 'imageGenerate', action: 'answer', body: JSON.stringify({ data }) });
	const details = await detailsOf(gateway, 'image.generate');
	await close();
	expect(details.message).toMatch(/certificate/i);
	expect(gateway.requests).toHaveLength(1);
});

it('sends the key over plain HTTP only to this machine, unless the credential allows it', async () => {
	const plain = { url: publicUrl(gateway.url, 'gateway'), apiKey: gateway.apiKey };
	const details = await detailsOf(plain, 'model.getAll');
	expect(details.message).toMatch(/https/);
	expect(gateway.requests).toEqual([]);

	const credential = { advanced: true, allowHttp: true };
	const allowed = await run(plain, nodeFor('model.getAll'), { credential });
	expect(allowed.status).toBe('success');
	const off = await detailsOf(plain, 'model.getAll', {
		credential: { ...credential, advanced: false },
	});
	expect(off.message).toMatch(/https/);
});
