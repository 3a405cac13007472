import type { Wording } from '../../../shared/service/jobs/referenceVideo';
import { isObject, parseJson, toJson } from '../../../shared/service/json';
import { encodedLink } from '../../../shared/service/links';
import { fieldOf, type Report } from '../../../shared/n8n/parameters/field';

/** One of the reference media of a request. */
export interface ReferenceMedium {
	/** As it is sent. */
	medium: unknown;
	/** How a retry recognizes it: with the file in place of its signed link, which differs from try to try. */
	identity: unknown;
}

/** The reference media of a request as JSON, usually from an earlier node. */
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

/** Reads a list of links and objects, a single one, or a text with one link per line. */
function readJson(value: unknown, report: Report): ReferenceMedium[] {
	const json = typeof value === 'string' ? jsonOrLinks(value) : toJson(value ?? []);
	const list = Array.isArray(json) ? json : [json];
	if (json === undefined) report('is not valid JSON', 'unsendable');
	else if (!list.every((entry) => typeof entry === 'string' || isObject(entry))) {
		report('must be a list of links, or of objects with type and url', 'unsendable');
	}
	return list
		.filter((entry) => entry !== undefined)
		.flatMap(divided)
		.map(mediumOf);
}

/**
 * A cell of a table may hold several links, with spaces or line breaks between them: each is an image of its own. With a
 * voice, it is not clear whose it is.
 */
function divided(entry: unknown): unknown[] {
	const url = isObject(entry) && !entry.reference_voice ? entry.url : entry;
	if (typeof url !== 'string') return [entry];
	const parts = url.trim().split(/\s(?=https?:\/\/)/i);
	const links = parts.map((part, index) =>
		index < parts.length - 1 ? part.trim().replace(/[,;]$/, '').trimEnd() : part,
	);
	return links.map((link) => (isObject(entry) ? { ...entry, url: link } : link));
}

/** The parsed JSON, or the lines of a text that is not JSON. Undefined for broken JSON. */
function jsonOrLinks(text: string): unknown {
	const json = parseJson(text);
	if (json !== undefined) return json ?? [];
	const isBroken = /^\s*[[{]/.test(text);
	return isBroken ? undefined : text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
}

/** The wording of problems with media that were given as JSON. */
export const jsonWording: Wording = {
	typeName: (name) => name,
	multipleLinksHint: 'put a space between them',
};

/** A link alone is a reference image. An object may have unknown fields, which are sent, too. */
function mediumOf(entry: unknown): ReferenceMedium {
	const given = typeof entry === 'string' ? { type: 'reference_image', url: entry } : entry;
	if (!isObject(given)) return { medium: given, identity: given };
	const medium = { ...given };
	for (const name of ['type', 'url', 'reference_voice']) {
		const value = medium[name];
		if (typeof value === 'string') medium[name] = encodedLink(value);
	}
	// An earlier node may give an empty voice when there is none.
	if (medium.reference_voice === '' || medium.reference_voice === null)
		delete medium.reference_voice;
	return { medium, identity: medium };
}
