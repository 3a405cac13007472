import type { IBinaryData, IExecuteFunctions, ISupplyDataFunctions } from 'n8n-workflow';
import { hasSeveralFrames, imageType } from '../../gateway/images/imageType';
import { toJson, isObject, parseJson, describeValue, type JsonObject } from '../../gateway/json';
import { fieldProblem, type Field, type Problem } from '../../gateway/protocol/fields';
import { isTool } from '../agent/tool';

/**
 * Reads one item's parameters. Expressions can yield anything, so every value is checked; what is wrong
 * is collected in {@link problems} and reported all at once.
 */
export class ItemParameters {
	readonly problems: Problem[] = [];
	/** Look into the files that were read, and report; to be run before the problems are counted. */
	readonly checks: Array<() => Promise<void>> = [];
	private readonly options: JsonObject;

	constructor(
		readonly context: IExecuteFunctions | ISupplyDataFunctions,
		readonly item: number,
	) {
		const options = this.value('options', {});
		this.options = isObject(options) ? options : {};
	}

	/** @throws n8n's own error for an expression that cannot be evaluated */
	value(name: string, fallback: unknown = ''): unknown {
		return this.context.getNodeParameter(name, this.item, fallback);
	}

	/** What is chosen in a resource locator; must not be empty. */
	chosen(name: string, field: string): string {
		const value = this.context.getNodeParameter(name, this.item, '', { extractValue: true });
		return this.filledText(value, field).trim();
	}

	report(field: string, problem: string): void {
		this.problems.push({ field, problem });
	}

	/** A text that must not be empty. */
	text(name: string, field: string): string {
		return this.filledText(this.value(name), field);
	}

	boolean(name: string, field: string, fallback: boolean): boolean {
		return this.asBoolean(this.value(name, fallback), field) ?? fallback;
	}

	wholeNumber(name: string, field: string, limits: { min: number }): number {
		const value = this.value(name);
		const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
		const problem = fieldProblem(number, { type: 'integer', ...limits });
		if (problem !== undefined) this.report(field, problem);
		return number as number;
	}

	/** Entries of a fixed collection that allows several. */
	entries(name: string): JsonObject[] {
		const entries = this.value(name, []);
		return Array.isArray(entries) ? entries.filter(isObject) : [];
	}

	// Options: undefined when the user did not add them, or left them empty.

	optionalText(name: string, field: string): string | undefined {
		const text = this.asText(this.options[name], field);
		return text === undefined || text.trim() === '' ? undefined : text;
	}

	/** A number, or a text that is one; anything else is handed on for the rules of its field to refuse. */
	optionalNumber(name: string): number | undefined {
		const value = this.options[name];
		if (value === undefined || value === null || value === '') return undefined;
		const isNumeral =
			typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value));
		return isNumeral ? Number(value) : (value as number);
	}

	/** A number that is sent as it is, by the rules of its field. */
	checkedNumber(name: string, field: string, rules: Field): number | undefined {
		const value = this.optionalNumber(name);
		const problem = value === undefined ? undefined : fieldProblem(value, rules);
		if (problem !== undefined) this.report(field, problem);
		return value;
	}

	/** A setting of ours. */
	setting(name: string, field: string, rules: Omit<Field, 'type'> & { default: number }): number {
		const value = this.checkedNumber(name, field, { type: 'number', ...rules });
		return typeof value === 'number' ? value : rules.default;
	}

	/** Milliseconds. @param unit milliseconds of what the user counts in */
	duration(
		name: string,
		field: string,
		{ unit, ...rules }: { unit: number; min: number; default: number },
	): number {
		// A longer timer goes off at once.
		const max = Math.floor((2 ** 31 - 1) / unit);
		return unit * this.setting(name, field, { ...rules, max });
	}

	/** One text, or several; empty ones are left out. */
	texts(name: string, field: string): string | string[] | undefined {
		const value = this.options[name];
		const texts = (Array.isArray(value) ? value : [value])
			.map((entry) => this.asText(entry, field))
			.filter((text) => text !== undefined && text !== '');
		return texts.length > 1 ? (texts as string[]) : texts[0];
	}

	optionalBoolean(name: string, field: string): boolean | undefined {
		return this.asBoolean(this.options[name], field);
	}

	/** An object, or JSON text of one. */
	optionalObject(name: string, field: string): JsonObject | undefined {
		const value = this.options[name];
		if (value === undefined || value === null || value === '') return undefined;
		const parsed = typeof value === 'string' ? parseJson(value) : toJson(value);
		if (isObject(parsed)) return parsed;
		this.report(field, 'must be a JSON object');
		return undefined;
	}

	/** Milliseconds; undefined: the endpoint's own limit. */
	get timeout(): number | undefined {
		if (this.optionalNumber('timeout') === undefined) return undefined;
		return this.duration('timeout', 'Timeout (Seconds)', { unit: 1000, min: 1, default: 60 });
	}

	/** A file of this item; undefined, and reported, when there is none. */
	binary(name: string, field: string): IBinaryData | undefined {
		const files = this.context.getInputData()[this.item]?.binary ?? {};
		if (Object.hasOwn(files, name)) return files[name];
		if (isTool(this.context.getNode())) {
			this.report(field, 'names a file, but an agent hands no files to its tools: give a link');
			return undefined;
		}
		const there = Object.keys(files);
		const has = there.length === 0 ? 'it has no files at all' : `it has ${there.join(', ')}`;
		this.report(field, `names "${name}", but this item has no such file (${has})`);
		return undefined;
	}

	/** A file of this item that has to be a picture. */
	picture(name: string, field: string): IBinaryData | undefined {
		const file = this.binary(name, field);
		if (file) this.checks.push(async () => await this.checkPicture(file, field));
		return file;
	}

	/** Finds what would be refused after it was sent ("Error codes seen", invalid_image_file). */
	private async checkPicture(file: IBinaryData, field: string): Promise<void> {
		const bytes = await this.context.helpers.getBinaryDataBuffer(this.item, file);
		const { fileName = 'of a JPEG' } = file;
		const isCalledJpeg = /\.jpe?g$/i.test(fileName) || file.mimeType === 'image/jpeg';
		// A picture may be in a form that only n8n knows.
		if (!imageType(bytes) && !file.mimeType.startsWith('image/')) {
			this.report(field, `is no picture (it is ${file.mimeType})`);
		} else if (isCalledJpeg && hasSeveralFrames(bytes)) {
			this.report(
				field,
				`leads to a file with several frames behind the name ${fileName}; save it as a plain JPEG or PNG`,
			);
		}
	}

	asText(value: unknown, field: string): string | undefined {
		if (value === undefined || value === null) return undefined;
		if (typeof value === 'string') return value;
		if (Number.isFinite(value) || typeof value === 'boolean') return String(value);
		this.report(field, `must be a text (it is ${describeValue(value)})`);
		return undefined;
	}

	private filledText(value: unknown, field: string): string {
		const before = this.problems.length;
		const text = this.asText(value, field) ?? '';
		// What is no text at all has been reported as that.
		const isReported = this.problems.length > before;
		if (text.trim() === '' && !isReported) this.report(field, 'is empty');
		return text;
	}

	private asBoolean(value: unknown, field: string): boolean | undefined {
		if (value === undefined || value === null || value === '') return undefined;
		if (typeof value === 'boolean') return value;
		if (value === 'true' || value === 'false') return value === 'true';
		this.report(field, 'must be true or false');
		return undefined;
	}
}
