import type { Media, Wording } from '../../../shared/service/jobs/referenceVideo';
import {
	fileOfMedium,
	referenceVideoModels,
	referenceVoice,
	type MediaType,
	type ReferenceVideoModel,
} from '../../../shared/service/protocol/models';
import { isObject, withoutUndefined } from '../../../shared/service/json';
import { encodedLink } from '../../../shared/service/links';
import { publicLinkOf } from '../../../shared/n8n/files/publicLink';
import { itemFile } from '../../../shared/n8n/files/itemFile';
import { sourceChoices, urlOrFile } from '../../../shared/n8n/files/urlOrFile';
import { fieldOf, type Field, type Report } from '../../../shared/n8n/parameters/field';
import {
	choiceField,
	linkField,
	listField,
	uncheckedText,
	withDefault,
} from '../../../shared/n8n/parameters/fieldKinds';
import type { Scope } from '../../../shared/n8n/parameters/itemParameters';
import { jsonIn } from '../../../shared/n8n/parameters/values';

/** The IDs of the known models for which a condition is true. */
export const modelsThat = (isTrue: (model: ReferenceVideoModel) => boolean): string =>
	Object.entries(referenceVideoModels)
		.filter(([, model]) => isTrue(model))
		.map(([id]) => id)
		.join(', ');

const type = choiceField('type', 'Type', {
	request: 'input.media[].type',
	options: [
		{
			name: 'First Frame',
			value: 'first_frame',
			description: `An image that guides how the video starts (${modelsThat(({ firstFrames }) => firstFrames.max > 0)} only)`,
		},
		{
			name: 'Reference Image',
			value: 'reference_image',
			description: 'A person, thing or place that appears in the video',
		},
		{
			name: 'Reference Video',
			value: 'reference_video',
			description: `A clip whose subject appears in the video (${modelsThat(({ mediaTypes }) => mediaTypes.includes('reference_video'))} only)`,
		},
	],
	default: 'reference_image',
});

function typeName(name: string): string {
	const option = type.property.options?.find(
		(choice) => 'value' in choice && choice.value === name,
	);
	return option?.name ?? name;
}

/** For problems of a file, whose link the user does not see. */
const fileLabel = 'File';

const source = urlOrFile({
	source: choiceField('source', 'Source', {
		default: 'url',
		options: sourceChoices({
			binary: 'It is sent as a public link, which needs an n8n with a public address',
		}),
	}),
	url: linkField('url', 'URL', {
		request: 'input.media[].url',
		placeholder: 'e.g. https://example.com/person.png',
		description: 'A public https link',
	}),
	file: uncheckedText('binaryField', 'Input Binary Field', {
		request: 'input.media[].url',
		default: 'data',
		placeholder: 'e.g. data',
		hint: 'The name of the input field with the file',
	}),
	find: itemFile,
	labels: { url: 'URL', file: fileLabel },
});

const { min, max } = referenceVoice.seconds;

const voice = linkField('voiceUrl', 'Voice URL', {
	request: 'input.media[].reference_voice',
	placeholder: 'e.g. https://example.com/voice.mp3',
	displayOptions: { hide: { type: ['first_frame'] } },
	description: `The voice of this subject: a wav or mp3 of ${min} to ${max} seconds (${modelsThat(({ voice: takesVoice }) => takesVoice)} only)`,
});

const mediaInput = withDefault(
	choiceField('mediaInput', 'Media Input', {
		noDataExpression: true,
		options: [
			{ name: 'Fields Below', value: 'fields' },
			{ name: 'JSON', value: 'json', description: 'A list of media, from an earlier node' },
		],
		default: 'fields',
		description: 'How to provide the reference media',
	}),
);

const media = listField('media', 'Media', {
	request: 'input.media',
	typeOptions: { sortable: true },
	placeholder: 'Add Media',
	default: { values: [{ type: 'reference_image', source: 'url', url: '' }] },
	displayOptions: { show: { mediaInput: ['fields'] } },
	description: 'Reference images and videos. Their order is kept.',
	entry: { label: 'Media', fields: [type, ...source.fields, voice] },
	read: async (entries) => await Promise.all(entries.map(readMedium)),
});

export interface ReferenceMedium {
	/** As it is sent. */
	medium: unknown;
	/** How a Retry recognizes it: by the file and not its signed link, which differs from try to try. */
	identity: unknown;
}

const mediaJson = fieldOf(
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
	const json = typeof value === 'string' ? jsonOrLinks(value) : jsonIn(value ?? []);
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
 * A cell of a table may hold several links, with spaces or line breaks between them: each is an image of its own. It is
 * not divided if it has a voice, which could be that of any.
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
	const json = jsonIn(text);
	if (json !== undefined) return json ?? [];
	const isBroken = /^\s*[[{]/.test(text);
	return isBroken ? undefined : text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
}

/** For problems with media that were given as JSON. */
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

export const mediaFields: readonly Field[] = [mediaInput, media, mediaJson];

/** The media in their order, and the wording of their problems: with labels of the panel, or with names of JSON. */
export async function readMedia(
	scope: Scope,
): Promise<{ media: ReferenceMedium[]; wording: Wording }> {
	if (mediaInput.read(scope) === 'json') {
		return { media: mediaJson.read(scope), wording: jsonWording };
	}
	return {
		media: await media.read(scope),
		wording: { typeName, multipleLinksHint: 'add one entry for each (Add Media)' },
	};
}

async function readMedium(scope: Scope): Promise<ReferenceMedium> {
	const picked = source.read(scope);
	const kind = type.read(scope) ?? '';
	const reference_voice = voice.read(scope);
	const withLink = (url: string | undefined): Media => ({
		type: kind,
		url,
		...withoutUndefined({ reference_voice }),
	});
	if (picked && 'file' in picked) {
		const { file } = picked;
		const wanted = fileOfMedium[kind as MediaType];
		const link = await publicLinkOf(file, { wanted, field: fileLabel, scope });
		return { medium: withLink(link), identity: { ...withLink(undefined), url: file } };
	}
	if (picked?.url === '') scope.report('URL', 'is empty: give a link, or delete this entry');
	const medium = withLink(picked?.url || undefined);
	return { medium, identity: medium };
}
