import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { chromium, selectors, type Browser, type Locator, type Page } from 'playwright-core';
import type { WorkflowJson } from '../harness/workflow';
import { locate } from './debian';
import { browserCommand } from './installation';
import { browserId, type Owner } from './owner';

// The browser's driver is installed next to n8n, where files in other folders cannot import it.
export type { Locator, Page };

const docsPictures = path.resolve(__dirname, '../../docs/pictures');
const ownPictures = path.resolve(__dirname, '../e2e/pictures');

selectors.setTestIdAttribute('data-test-id');

/** n8n 1 requests features that its license lacks, and data that does not exist yet. */
const ownComplaints = /ai\/sessions|sessions metadata|schemas\/n8n-nodes-base|last-successful/;

/** Without a GPU, an animation such as the border of a running node takes half a core. */
function stopAnimations(): void {
	const still = new CSSStyleSheet();
	still.replaceSync(
		'*, ::before, ::after { animation: none !important; transition: none !important; }',
	);
	document.adoptedStyleSheets.push(still);
}

/** n8n's editor in a real browser, signed in. */
export class Editor {
	/** Errors that the page has reported. */
	readonly complaints: string[] = [];

	private constructor(
		private readonly browser: Browser,
		readonly page: Page,
		readonly url: string,
	) {
		page.on('console', (message) => {
			if (message.type() !== 'error' || ownComplaints.test(message.text())) return;
			if (ownComplaints.test(message.location().url)) return;
			this.complaints.push(`${message.text()} (${message.location().url})`);
		});
		page.on('pageerror', (error) => this.complaints.push(String(error)));
	}

	static async open({ url, cookie }: Owner): Promise<Editor> {
		const browser = await chromium.launch({
			executablePath: locate(browserCommand),
			// Root has no sandbox. The other flags keep the browser from contacting Google's hosts.
			args: [
				'--no-sandbox',
				'--disable-gpu',
				'--disable-quic',
				'--no-first-run',
				'--disable-background-networking',
				'--disable-component-update',
				'--disable-sync',
			],
		});
		const context = await browser.newContext({
			// n8n ignores the approvals of a headless browser, which it takes for a bot.
			userAgent: `Mozilla/5.0 (X11; Linux x86_64) Chrome/${browser.version()} Safari/537.36`,
			viewport: { width: 1440, height: 900 },
			colorScheme: 'light',
			acceptDownloads: true,
			reducedMotion: 'reduce',
		});
		await context.addCookies([{ name: 'n8n-auth', value: cookie, url }]);
		await context.addInitScript((id) => localStorage.setItem('n8n-browserId', id), browserId);
		await context.addInitScript(stopAnimations);
		context.setDefaultTimeout(30_000);
		return new Editor(browser, await context.newPage(), url);
	}

	/** Opens a new workflow and imports one into it, as "Import from File" in its menu does. */
	async importWorkflow(workflow: WorkflowJson): Promise<void> {
		await this.page.goto(`${this.url}/workflow/new`);
		await this.page.getByTestId('canvas-add-button').waitFor();
		await this.page.getByTestId('workflow-import-input').setInputFiles({
			name: 'workflow.json',
			mimeType: 'application/json',
			buffer: Buffer.from(JSON.stringify(workflow)),
		});
		await this.node(workflow.nodes.at(-1)?.name ?? '').waitFor();
	}

	get workflowId(): string {
		return new URL(this.page.url()).pathname.split('/').at(-1) ?? '';
	}

	async openWorkflow({ id }: { id: string }): Promise<void> {
		await this.page.goto(`${this.url}/workflow/${id}`);
		await this.page.getByTestId('canvas-node').first().waitFor();
	}

	/** Presses "Execute workflow". @returns n8n's final message about it */
	async execute(seconds = 60): Promise<string> {
		await this.page.getByTestId('execute-workflow-button').click();
		const message = this.page
			.getByText(/^(Workflow executed successfully|Problem in node .*)$/)
			.first();
		await message.waitFor({ timeout: seconds * 1000 });
		return (await message.textContent()) ?? '';
	}

	node(name: string): Locator {
		return this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
	}

	async openNode(name: string): Promise<Locator> {
		await this.node(name).dblclick();
		const panel = this.page.getByTestId('ndv');
		await panel.waitFor();
		return panel;
	}

	async closeNode(): Promise<void> {
		const ofN8n1 = this.page.getByTestId('back-to-canvas');
		await this.page.getByTestId('ndv-close-button').or(ofN8n1).first().click();
		await this.page.getByTestId('ndv').waitFor({ state: 'hidden' });
	}

	/** Drags the upper edge of the chat upwards: it is low at first. */
	async raiseChat(pixels: number): Promise<void> {
		const { y = 0 } = (await this.page.getByTestId('canvas-chat').boundingBox()) ?? {};
		await this.page.mouse.move(700, y);
		await this.page.mouse.down();
		await this.page.mouse.move(700, y - pixels, { steps: 5 });
		await this.page.mouse.up();
	}

	/** The labels of the fields in the open panel, in their order, once they no longer change. */
	async fields(): Promise<string[]> {
		for (let before: string[] | undefined; ;) {
			const now = await this.labels();
			if (isDeepStrictEqual(before, now)) return now;
			before = now;
			await setTimeout(250);
		}
	}

	private async labels(): Promise<string[]> {
		const labels = this.page.getByTestId('node-parameters').getByTestId('input-label');
		const texts = await labels.evaluateAll((found) =>
			found
				.filter((label) => label.checkVisibility())
				.map((label) => (label as HTMLElement).innerText),
		);
		// Below its first line, a label contains the buttons of its field.
		return texts.map((text) => text.split('\n')[0].trim()).filter((text) => text !== '');
	}

	/** Chooses from a menu of the open panel. @param field the field's internal name */
	async choose(field: string, option: string): Promise<void> {
		await this.page.getByTestId(`parameter-input-${field}`).click();
		// An entry contains its name and a description.
		const name = this.page.getByText(option, { exact: true });
		await this.page.getByRole('option').filter({ has: name, visible: true }).click();
	}

	/**
	 * Takes a screenshot for the README and docs. It replaces theirs when UPDATE_PICTURES is set. Otherwise it goes
	 * into a folder that git ignores.
	 */
	async takePicture(name: string, of: Page | Locator = this.page): Promise<void> {
		const folder = process.env.UPDATE_PICTURES ? docsPictures : ownPictures;
		await this.page.mouse.move(0, 0);
		// Icons load late, and buttons fade when they change. If the page never gets idle, take it as it is.
		await this.page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined);
		await setTimeout(500);
		await of.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled' });
	}

	/** Takes a screenshot of the whole canvas of an example, for the list of examples. */
	async takeCanvas(name: string): Promise<void> {
		const { page } = this;
		await page.setViewportSize({ width: 1600, height: 800 });
		// n8n's notifications about the credential cover a part of the canvas.
		for (const close of await page.locator('.el-notification__closeBtn').all()) {
			await close.click().catch(() => undefined);
		}
		// Fits the whole canvas into the window.
		await page.keyboard.press('1');
		await setTimeout(1_000);
		await page.locator('.vue-flow').screenshot({
			path: path.join(docsPictures, 'examples', `${name}.jpg`),
			type: 'jpeg',
			quality: 70,
		});
	}

	async close(): Promise<void> {
		await this.browser.close();
	}
}
