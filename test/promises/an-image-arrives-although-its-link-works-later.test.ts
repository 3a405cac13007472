import { answer, startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import { nodeFor, png, run } from '../support/nodes';

const { gateway } = withGateway({ isTimeSimulated: true });

const made = async (...urls: string[]) => {
	const body = JSON.stringify({ data: urls.map((url) => ({ url })) });
	gateway.fault({ route: 'imageGenerate', action: 'answer', body });
	const node = nodeFor('image.generate', {}, { onError: 'continueErrorOutput' });
	return await run(gateway, node);
};

const inside = `data:image/png;base64,${png.toString('base64')}`;

it.each([404, 403])('downloads an image whose link first answers %i', async (status) => {
	const late = await startServer(answer(status, ''), answer(status, ''), answer(200, png));
	const result = await made(`${late.url}/late.png`);
	const [item] = result.items('Node');
	expect(await result.binary(item)).toEqual(png);
	expect(late.requests).toHaveLength(3);
});

it('says after some seconds that the link to an image does not work, and gives the other images', async () => {
	const gone = await startServer(answer(404, ''));
	const result = await made(`${gone.url}/gone.png`, inside);
	expect(result.items('Node')).toHaveLength(1);
	expect(result.items('Node', { output: 1 })[0].json).toMatchObject({
		error: expect.stringContaining('Could not download the image'),
		details: { url: `${gone.url}/gone.png`, billed: 'yes', status: 404 },
	});
	expect(gone.requests.length).toBeLessThan(6);
});

it.each([401, 410])('requests an image only once when its link answers %i', async (status) => {
	const gone = await startServer(answer(status, ''));
	await made(`${gone.url}/gone.png`);
	expect(gone.requests).toHaveLength(1);
});
