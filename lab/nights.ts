import type { IDataObject, IWorkflowBase } from 'n8n-workflow';
import type { Gateway, Job } from '../gateway';
import { randomFrom } from '../gateway/random';
import { fetchPublished, isOpen, itemsOf, type Execution } from '../test/n8n/owner';
import { picture } from '../test/support/data/samples';
import { titledVideo } from '../test/support/data/titledVideo';
import { until } from '../test/support/time/until';
import { readExample, withFolder, withSettings } from '../test/support/workflows/examples';
import { core, withCredential } from '../test/support/workflows/workflows';
import { Instance } from './n8n/instance';
import { atLeast, none, print, printTable, type Figure } from './report';

interface Settings {
	/** How many products the list has more in each night. */
	rows: number;
	seed: string;
}

const nights = 5;
const file = 'product-videos-from-a-list.json';

/** Runs the list example for five nights while half of the jobs fail, and its form in each morning. */
export async function measureNights({ rows, seed }: Settings): Promise<Figure[]> {
	const random = randomFrom(seed);
	const render = async ({ caption }: { caption: string }) => {
		if (random() < 0.5) throw new Error('the model gave up');
		return titledVideo(caption);
	};
	return await Instance.withGateway({ jobSeconds: 1, render }, async (instance, gateway) => {
		const broken = breakRequests(gateway, random);
		const list = await List.of(instance, gateway);
		const lines = [['', 'status', 'jobs', 'ready', 'failed', 'refused', 'unknown', 'shown']];
		const line = async (name: string, execution: Execution) => {
			const states = (await list.rows()).map(({ state }) => state);
			const counts = ['ready', 'failed', 'refused', 'unknown'].map((state) =>
				states.filter((own) => own === state).length.toString(),
			);
			const jobs = gateway.jobs.list().length.toString();
			const shown = itemsOf(execution, 'Without a Video').length.toString();
			lines.push([name, execution.status, jobs, ...counts, shown]);
			print(lines.at(-1)?.join(' '));
		};
		let last: Execution | undefined;
		for (let night = 1; night <= nights; night++) {
			await list.grow(night * rows);
			// In the third night, n8n is killed while it orders. The list runs again.
			if (night === 3) await list.kill(rows / 3);
			await line(`night ${night}`, await list.run());
			last = await list.press();
			await line(`morning ${night}`, last);
		}
		printTable(lines);
		return figuresOf(gateway, await list.rows(), last as Execution, {
			rows: nights * rows,
			broken: broken(),
		});
	});
}

/** Some creates are refused, some responses are lost, some polls and downloads fail. @returns how many */
function breakRequests(gateway: Gateway, random: () => number): () => number {
	const share = (part: number) => () => random() < part;
	const times = Infinity;
	const create = { route: 'referenceVideoCreate', times } as const;
	const faults = [
		gateway.fault({ ...create, when: share(0.02), action: 'reset', accepted: true }),
		gateway.fault({
			...create,
			when: share(0.03),
			action: 'error',
			status: 400,
			code: 'invalid_prompt',
			message: 'the prompt was blocked',
		}),
		gateway.fault({ route: 'task', times, when: share(0.05), action: 'reset' }),
		gateway.fault({ route: 'download', times, when: share(0.05), action: 'cut', after: '40%' }),
	];
	return () => faults.reduce((sum, { hits }) => sum + hits, 0);
}

/** The example in n8n, with a list that grows. */
class List {
	private readonly webhook = 'order-again';
	private products: IDataObject[] = [];

	private constructor(
		private readonly instance: Instance,
		private readonly gateway: Gateway,
		private readonly link: string,
		private workflow: IWorkflowBase & { versionId: string },
	) {}

	static async of(instance: Instance, gateway: Gateway): Promise<List> {
		const link = gateway.addMedia('product.png', picture('green'), 'image/png');
		const credential = await instance.owner.createCredential(gateway);
		const example = withFolder(readExample(file), `${instance.folder}/.n8n-files`);
		// A webhook in the place of the form: nobody is there to sign in.
		const form = { path: 'order-again', responseMode: 'lastNode' };
		const nodes = withCredential(example, credential).nodes.map((node) => {
			if (node.name === 'Order Again') {
				return { ...node, ...core(node.name, 'webhook', form, 2.1), webhookId: 'order-again' };
			}
			if (node.name !== 'Create Video') return node;
			const options = node.parameters?.options as IDataObject;
			const limits = { maxOrdersPerDay: 10_000 };
			return { ...node, parameters: { ...node.parameters, options: { ...options, limits } } };
		});
		const workflow = await instance.owner.createWorkflow({ ...example, nodes });
		return new List(instance, gateway, link, workflow);
	}

	/** Adds products up to this number, and publishes the list. */
	async grow(count: number): Promise<void> {
		for (let number = this.products.length + 1; number <= count; number++) {
			this.products.push({
				product: `Product ${number}`,
				prompt: `Product ${number} turns`,
				model: 'beta-2.7-r2v',
				ratio: '1:1',
				seconds: 2,
				pictures: [this.link],
			});
		}
		const { owner } = this.instance;
		const { nodes } = withSettings(this.workflow, { products: this.products });
		const { id } = this.workflow;
		this.workflow = await owner.request('PATCH', `/workflows/${id}`, { nodes });
		await owner.publish(this.workflow);
	}

	async run(): Promise<Execution> {
		const { owner } = this.instance;
		return await owner.ended(await owner.start(this.workflow), 600);
	}

	/** Starts the list, and kills n8n after this number of orders. */
	async kill(orders: number): Promise<void> {
		const before = this.gateway.jobs.list().length;
		await this.instance.owner.start(this.workflow);
		await until(() => this.gateway.jobs.list().length >= before + orders, 100);
		await this.instance.end('SIGKILL');
		await this.instance.start();
	}

	/** Presses the form's button. */
	async press(): Promise<Execution> {
		const { owner } = this.instance;
		const known = (await owner.executionsOf(this.workflow)).map(({ id }) => id);
		void fetchPublished(`${owner.url}/webhook/${this.webhook}`).catch(() => undefined);
		const begun = async () =>
			(await owner.executionsOf(this.workflow)).find(({ id }) => !known.includes(id));
		await until(async () => (await begun()) !== undefined);
		await until(async () => !isOpen((await begun()) ?? { status: 'new' }), 250);
		return await owner.ended((await begun())?.id ?? '', 600);
	}

	async rows(): Promise<IDataObject[]> {
		const { owner } = this.instance;
		const tables = await owner.request<{ data: IDataObject[] }>('GET', '/data-tables-global');
		const [{ id, projectId }] = tables.data;
		const path = `/projects/${String(projectId)}/data-tables/${String(id)}/rows`;
		const rows: IDataObject[] = [];
		for (;;) {
			const page = `${path}?take=250&skip=${rows.length}`;
			const { data } = await owner.request<{ data: IDataObject[] }>('GET', page);
			rows.push(...data);
			if (data.length < 250) return rows;
		}
	}
}

function figuresOf(
	gateway: Gateway,
	rows: IDataObject[],
	last: Execution,
	{ rows: expected, broken }: { rows: number; broken: number },
): Figure[] {
	const jobsOf = new Map<string, Job[]>();
	for (const job of gateway.jobs.list()) {
		const { prompt } = job.order;
		jobsOf.set(prompt, [...(jobsOf.get(prompt) ?? []), job]);
	}
	const twice = [...jobsOf.values()].filter((jobs) =>
		jobs.slice(0, -1).some(({ phase }) => phase !== 'failed'),
	);
	const shown = new Set(itemsOf(last, 'Without a Video').map(({ json }) => json.product));
	const ready = rows.filter(({ state }) => state === 'ready');
	const isReady = (row: IDataObject) =>
		gateway.jobs.get(String(row.job))?.phase === 'succeeded' && Boolean(row.file);
	const hidden = rows.filter(({ state, product }) => state !== 'ready' && !shown.has(product));
	const failed = gateway.jobs.list().filter(({ phase }) => phase === 'failed').length;
	return [
		{ figure: 'jobs, and how many failed', value: `${gateway.jobs.list().length}, ${failed}` },
		{ figure: 'requests that met another fault', value: `${broken}` },
		atLeast('rows of the table, one for each product', rows.length, expected),
		atLeast('rows that are ready', ready.length, Math.ceil(expected * 0.75)),
		none('rows that are ready without their video', ready.filter((row) => !isReady(row)).length),
		none('rows that are neither ready nor shown', hidden.length),
		none('products with a second job beside one that is running or finished', twice.length),
	];
}
