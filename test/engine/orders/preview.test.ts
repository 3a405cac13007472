import { EngineProcess, retryExecution, type RunOptions, type WorkflowRun } from '../../harness';
import { fileOf, png } from '../../support/nodes';
import {
	charged,
	chargedJobs,
	create,
	refuseNext,
	run,
	withOrders,
	world,
	type Fields,
} from '../../support/orders';
import { chain } from '../../support/workflows/workflows';

const preview = (options: Fields = {}, more: Fields = {}) =>
	create('a reference video', { options, preview: true, ...more });
const jsonOf = (result: WorkflowRun) => result.items('Create').map(({ json }) => json);

withOrders();

it('uses up no key and no limit that items ordered in the same run need', async () => {
	const guards = { maxOrders: 1, orderKey: '={{ $json.prompt }}' };
	const node = preview(guards, { preview: '={{ $itemIndex !== 1 }}' });
	expect(jsonOf(await run(chain(node), ['Same', 'Same', 'Other']))).toMatchObject([
		{ would: 'skip' },
		{ output: { task_id: expect.any(String) } },
		{ would: 'fail' },
	]);
	expect(charged()).toBe(1);
});

it('shows in a worker what the orders of others have left of the limit of a day', async () => {
	const inWorker: RunOptions = { inWorker: true };
	const limit = { maxOrdersPerDay: 2 };
	await run(chain(preview(limit, { preview: false })), ['One'], inWorker);
	const shown = async () => jsonOf(await run(chain(preview(limit)), ['One', 'Two'], inWorker));
	expect(await new EngineProcess().run(shown)).toMatchObject([
		{ would: 'order' },
		{ would: 'fail' },
	]);
	expect(charged()).toBe(1);
});

it('shows on Retry the jobs that it would reuse, and leaves their record as it was', async () => {
	refuseNext('a reference video', 'Two');
	const failed = await run(chain(preview({}, { preview: false })), ['One', 'Two']);
	const [job_id] = chargedJobs();
	for (let times = 0; times < 2; times++) {
		const shown = await retryExecution(failed, { workflow: chain(preview()) });
		expect(jsonOf(shown)).toMatchObject([{ would: 'reuse', job_id }, { would: 'order' }]);
	}
	expect((await retryExecution(failed)).status).toBe('success');
	expect(charged()).toBe(2);
});

it.each(['={{ undefined }}', '={{ null }}', "={{ '' }}", "={{ 'yes' }}", '={{ 0 }}'])(
	'places no order when Preview is neither true nor false: %s',
	async (given) => {
		const result = await run(chain(preview({}, { preview: given })));
		expect(result.errorOf('Create')?.message).toMatch(/Preview .* must be true or false/);
		expect(world.gateway.requests).toEqual([]);
	},
);

it('shows the name, type and size of a file in a request', async () => {
	const edit = create('an edited image', { preview: true, imageSource: 'binary' });
	const input = [{ json: { prompt: 'Draw' }, binary: { data: fileOf(png, 'a.png') } }];
	const result = await run(chain(edit), [], { input });
	const image = { file_name: 'a.png', mime_type: 'image/png', bytes: png.length };
	const body = { model: 'image-edit-1-url', prompt: 'Draw', image };
	expect(jsonOf(result)).toMatchObject([{ would: 'order', request: { body } }]);
	expect(result.hintsOf('Create')).toEqual([expect.stringContaining('1 image would be ordered.')]);
	expect(world.gateway.requests).toEqual([]);
});
