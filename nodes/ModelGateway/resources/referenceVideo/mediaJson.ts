import type { Wording } from '../../../shared/gateway/jobs/referenceMedia';
import { isObject, parseJson, toJson } from '../../../shared/gateway/json';
import { fieldOf, type Report } from '../../../shared/n8n/parameters/fieldKinds';

/** One of the reference media of a request. */
export interface ReferenceMedium {
	/** As it is sent. */
	medium: unknown;
	/** As a retry recognizes it: the signed link of a file differs from try to try, the file does not. */
	identity: unknown;
}

/** The reference media of a request, from an earlier node. */
export const mediaJson = fieldOf(
	'json',
	{
		displayName: 'Media (JSON)',
		name: 'mediaJson',
		request: 'input.media',
		default: '[]',
		displayOptions: { show: { mediaInput: ['json'] } },
		placeholder: 'e.g. [{ "type": "reference_image", "url": "https://example.com/person.png" }]',
		description:
			'A list of links to reference images, or of objects with type, URL and, optionally, reference_voice',
	},
	readJson,
);

/** Links and objects in their order: of a list, of one alone, or of a text with a link on each line. */
function readJson(value: unknown, report: Report): ReferenceMedium[] {
	const json = typeof value === 'string' ? jsonOrLinks(value) : toJson(value ?? []);
	const list = Array.isArray(json) ? json : [json];
	if (json === undefined) report('is not valid JSON', 'unsendable');
	else if (!list.every((entry) => typeof entry === 'string' || isObject(entry))) {
		report('must be a list of links, or of objects with type and url', 'unsendable');
	}
	return list.filter((entry) => entry !== undefined).map(mediumOf);
}

/** The value of the JSON, or the lines of a text that is none; undefined for broken JSON. */
function jsonOrLinks(text: string): unknown {
	const json = parseJson(text);
	if (json !== undefined) return json ?? [];
	const isBroken = /^\s*[[{]/.test(text);
	return isBroken ? undefined : text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
}

/** The words for problems with media that were given as JSON. */
export const jsonWording: Wording = {
	typeName: (name) => name,
	oneEach: 'make it a list of them',
};

/** A link alone is a reference image. Fields of an object that are not known are sent too. */
function mediumOf(entry: unknown): ReferenceMedium {
	const given = typeof entry === 'string' ? { type: 'reference_image', url: entry } : entry;
	if (!isObject(given)) return { medium: given, identity: given };
	const medium = { ...given };
	for (const name of ['type', 'url', 'reference_voice']) {
		const value = medium[name];
		if (typeof value === 'string') medium[name] = value.trim();
	}
	// An earlier node may give an empty voice where there is none.
	if (medium.reference_voice === '' || medium.reference_voice === null)
		delete medium.reference_voice;
	return { medium, identity: medium };
}
