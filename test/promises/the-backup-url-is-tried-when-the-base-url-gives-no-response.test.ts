import { json, nobody, page, startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import { detailsOf, nodeFor, run, type Operation } from '../support/nodes';

const { gateway } = withGateway({ isTimeSimulated: true, jobSeconds: Infinity });

const withBackup = (url: string, name: Operation, backupUrl = gateway.backupUrl) =>
	run({ url, apiKey: gateway.apiKey }, nodeFor(name), { credential: { backupUrl } });
const hosts = () => gateway.requests.map(({ host }) => host);

it('goes to the backup URL when nothing listens at the base URL: also an order', async () => {
	for (const name of ['chat.complete', 'model.getAll', 'video.create'] as const) {
		expect((await withBackup(nobody, name)).status).toBe('success');
	}
	expect(hosts()).toEqual(['backup', 'backup', 'backup']);
	expect(gateway.ledger).toHaveLength(2);
});

it('goes to the backup URL when only a proxy responds, but not with an order', async () => {
	const proxy = await startServer(page(502));
	expect((await withBackup(proxy.url, 'chat.complete')).status).toBe('success');
	expect(hosts()).toEqual(['backup']);
	expect((await withBackup(proxy.url, 'video.create')).status).toBe('error');
	expect(hosts()).toEqual(['backup']);
});

it('takes an error of the service as final', async () => {
	const refusing = await startServer(json({ error: { message: 'no', code: 'bad_style' } }, 400));
	const details = await detailsOf({ ...gateway, url: refusing.url }, 'chat.complete', {
		credential: { backupUrl: gateway.backupUrl },
	});
	expect(details).toMatchObject({ status: 400, code: 'bad_style' });
	expect(gateway.requests).toEqual([]);
});

it('does not use the backup URL while the base URL responds', async () => {
	expect((await withBackup(gateway.url, 'chat.complete')).status).toBe('success');
	expect(hosts()).toEqual(['api']);
});
