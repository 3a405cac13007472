import { asText, describeValue, excerpt, isObject, parseJson, type JsonObject } from './json';
import type { Amount } from './protocol/amount';

/** The prices of one model, in the user's own currency. Those given are added up. */
interface Price {
	/** Per second of a video: one price, or one for each resolution, such as `1080P`. */
	per_second?: number | Readonly<Record<string, number>>;
	per_video?: number;
	per_image?: number;
	per_million_input_tokens?: number;
	per_million_output_tokens?: number;
}

const priceNames: ReadonlyArray<keyof Price> = [
	...(['per_second', 'per_video', 'per_image'] as const),
	...(['per_million_input_tokens', 'per_million_output_tokens'] as const),
];

export type Estimate = { cost: number } | { problem: string };

/** The prices of models as the user entered them: the specification gives none. */
export class PriceList {
	private constructor(private readonly prices: unknown) {}

	/**
	 * @param written an object with the prices of each model by its ID, or the same as JSON text
	 * @returns undefined when there are no prices; each estimate that needs them reports what is wrong with them
	 */
	static of(written: unknown): PriceList | undefined {
		const isText = typeof written === 'string';
		if (written === undefined || written === null || (isText && written.trim() === '')) {
			return undefined;
		}
		const prices = isText ? parseJson(written) : written;
		return isObject(prices) && Object.keys(prices).length === 0 ? undefined : new PriceList(prices);
	}

	get problems(): string[] {
		if (!isObject(this.prices)) return [notAnObject];
		return Object.keys(this.prices).flatMap((model) => {
			const price = this.priceOf(model);
			return 'problem' in price ? [price.problem] : [];
		});
	}

	/** The cost of videos or images before they are ordered. */
	estimateOrder({ kind, model, count, seconds, resolution }: Amount): Estimate {
		const price = this.priceOf(model);
		if ('problem' in price) return price;
		if (count === undefined) return { problem: `the number of ${kind}s is no number` };
		if (kind === 'image') {
			const { per_image } = price;
			if (per_image === undefined) return missing(model, 'per_image');
			return { cost: rounded(per_image * count) };
		}
		const { per_second, per_video } = price;
		if (per_second === undefined) {
			if (per_video === undefined) return missing(model, 'per_second or per_video');
			return { cost: rounded(per_video * count) };
		}
		const perSecond = isObject(per_second) ? byResolution(per_second, resolution) : per_second;
		if (perSecond === undefined) {
			return missing(model, `per_second of ${resolution ?? 'a video without a resolution'}`);
		}
		if (seconds === undefined) {
			const problem = `${quoted(model)} has a price per second, but the request does not say how many seconds its video has: use per_video`;
			return { problem };
		}
		return { cost: rounded(((per_video ?? 0) + perSecond * seconds) * count) };
	}

	/** The cost of a response. @param usage its token counts ("Resources"); undefined when it has none */
	estimateTokens(model: string, usage: unknown): Estimate {
		const price = this.priceOf(model);
		if ('problem' in price) return price;
		const { per_million_input_tokens: perInput, per_million_output_tokens: perOutput } = price;
		const tokens = tokensIn(usage);
		if (perInput === undefined) return missing(model, 'per_million_input_tokens');
		if (!tokens) return { problem: 'the response does not say how many tokens it used' };
		if (perOutput === undefined && tokens.output > 0) {
			return missing(model, 'per_million_output_tokens');
		}
		const cost = (perInput * tokens.input + (perOutput ?? 0) * tokens.output) / 1_000_000;
		return { cost: rounded(cost) };
	}

	private priceOf(model: string): Price | { problem: string } {
		const { prices } = this;
		if (!isObject(prices)) return { problem: notAnObject };
		const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
		return price === undefined ? missing(model) : readPrice(model, price);
	}
}

const notAnObject =
	'they must be a JSON object that has the prices of each model by its ID, such as {"alpha-1.1-r2v": {"per_second": 0.1}}, with points in decimals (0.1, not 0,1)';

function readPrice(model: string, price: unknown): Price | { problem: string } {
	const invalid = (what: string) => ({ problem: `${quoted(model)} ${what}` });
	if (!isObject(price)) return invalid('must have prices such as {"per_second": 0.1}');
	const read: JsonObject = {};
	for (const [name, value] of Object.entries(price)) {
		if (!priceNames.some((known) => known === name)) {
			return invalid(`has the unknown price ${quoted(name)}. Use ${priceNames.join(', ')}`);
		}
		const isByResolution = name === 'per_second' && isObject(value);
		const entries = Object.entries(isByResolution ? value : { [name]: value });
		const wrong = entries.find(([, given]) => numberIn(given) === undefined);
		if (wrong) {
			const [entry, given] = wrong;
			const what = isByResolution ? `per_second of ${quoted(entry)}` : name;
			const comma = String(given).includes(',') ? '. Write decimals with a point, such as 0.1' : '';
			return invalid(
				`has a price that is no number from 0: ${what} is ${describeValue(given)}${comma}`,
			);
		}
		const numbers = entries.map(([entry, given]) => [entry, numberIn(given)] as const);
		read[name] = isByResolution ? Object.fromEntries(numbers) : numberIn(value);
	}
	return read;
}

/** A sum of costs, without the rounding errors of binary fractions. */
export const sumOf = (costs: readonly number[]): number =>
	rounded(costs.reduce((sum, cost) => sum + cost, 0));

const rounded = (cost: number) => Number(cost.toPrecision(12));

const quoted = (text: string) => `“${excerpt(text, 100)}”`;

const missing = (model: string, name?: string) => ({
	problem: `${quoted(model)} has no ${name ?? 'price'}`,
});

/** A price may also be a number in quotation marks. */
function numberIn(value: unknown): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	const isPrice = typeof number === 'number' && Number.isFinite(number) && number >= 0;
	return isPrice ? number : undefined;
}

function byResolution(
	prices: Readonly<Record<string, number>>,
	resolution: string | undefined,
): number | undefined {
	const named = resolution?.toUpperCase();
	return Object.entries(prices).find(([name]) => name.toUpperCase() === named)?.[1];
}

/** Chats and embeddings name their token counts as "Resources" shows; for messages, it shows no names. */
export function tokensIn(usage: unknown): { input: number; output: number } | undefined {
	if (!isObject(usage)) return undefined;
	const tokens = (...names: string[]) => {
		const given = names.map((name) => Number(asText(usage[name]) ?? NaN));
		return given.find((number) => Number.isFinite(number) && number >= 0);
	};
	const input = tokens('prompt_tokens', 'input_tokens');
	const total = tokens('total_tokens');
	if (input === undefined && total === undefined) return undefined;
	const known = input ?? total ?? 0;
	const output = tokens('completion_tokens', 'output_tokens');
	return { input: known, output: output ?? Math.max(0, (total ?? known) - known) };
}
