import type { Media } from '../../../shared/gateway/jobs/referenceVideo';
import {
	asText,
	isObject,
	parseJson,
	withoutUndefined,
	type JsonObject,
} from '../../../shared/gateway/json';
import { referenceVoice } from '../../../shared/gateway/protocol/models';
import { fileIdentity, publicLinkOf } from '../../../shared/n8n/files/binary';
import { itemFile } from '../../../shared/n8n/files/itemFile';
import { sourceChoices, urlOrFile } from '../../../shared/n8n/files/urlOrFile';
import type { Field } from '../../../shared/n8n/parameters/field';
import {
	choiceField,
	fieldOf,
	looseText,
	withDefault,
} from '../../../shared/n8n/parameters/fieldKinds';
import type { Place } from '../../../shared/n8n/parameters/itemParameters';
import { listField } from '../../../shared/n8n/parameters/listField';

const { min, max } = referenceVoice.seconds;

const type = looseText({
	displayName: 'Type',
	name: 'type',
	request: 'input.media[].type',
	options: [
		{
			name: 'First Frame',
			value: 'first_frame',
			description: 'The image that the video starts with (beta models only)',
		},
		{
			name: 'Reference Image',
			value: 'reference_image',
			description: 'A person, thing or place that appears in the video',
		},
		{
			name: 'Reference Video',
			value: 'reference_video',
			description: 'A clip whose subject appears in the video (beta models only)',
		},
	],
	default: 'reference_image',
});

/** Its name in problems of a file, whose link is not the user's. */
const fileLabel = 'File';

const source = urlOrFile({
	source: {
		displayName: 'Source',
		name: 'source',
		default: 'url',
		options: sourceChoices({
			binary: 'N8n makes a public link to it; needs an n8n with a public address',
		}),
	},
	url: looseText({
		displayName: 'URL',
		name: 'url',
		request: 'input.media[].url',
		placeholder: 'e.g. https://example.com/person.png',
		description: 'A public https link',
	}),
	file: looseText({
		displayName: 'Input Binary Field',
		name: 'binaryField',
		request: 'input.media[].url',
		default: 'data',
		placeholder: 'e.g. data',
		hint: 'The name of the input field with the file',
	}),
	find: itemFile,
	labels: { url: 'URL', file: fileLabel },
});

const voice = looseText({
	displayName: 'Voice URL',
	name: 'voiceUrl',
	request: 'input.media[].reference_voice',
	placeholder: 'e.g. https://example.com/voice.mp3',
	description: `The voice of this subject: a wav or mp3 of ${min} to ${max} seconds (beta models only)`,
});

const mediaInput = withDefault(
	choiceField({
		displayName: 'Media Input',
		name: 'mediaInput',
		noDataExpression: true,
		options: [
			{ name: 'Fields Below', value: 'fields' },
			{ name: 'JSON', value: 'json', description: 'A list of media, from an earlier node' },
		],
		default: 'fields',
		description: 'How to provide the reference media',
	}),
);

const media = listField({
	displayName: 'Media',
	name: 'media',
	request: 'input.media',
	typeOptions: { sortable: true },
	placeholder: 'Add Media',
	displayOptions: { show: { mediaInput: ['fields'] } },
	description: 'Reference images and videos. Their order is kept.',
	entry: 'Media',
	fields: [type, ...source.fields, voice],
});

const mediaJson = fieldOf(
	'json',
	{
		displayName: 'Media (JSON)',
		name: 'mediaJson',
		request: 'input.media',
		default: '[]',
		displayOptions: { show: { mediaInput: ['json'] } },
		placeholder: 'e.g. [{ "type": "reference_image", "url": "https://example.com/person.png" }]',
		description: 'A list of objects with type, URL and, optionally, reference_voice',
	},
	(value, report): JsonObject[] => {
		const parsed = typeof value === 'string' ? parseJson(value) : value;
		const list = isObject(parsed) ? [parsed] : parsed;
		if (Array.isArray(list) && list.every(isObject)) return list;
		report('must be a list of objects with type and url');
		return [];
	},
);

/** The fields that take reference media, one by one or as JSON. */
export const mediaFields: readonly Field[] = [mediaInput, media, mediaJson];

interface ReadMedium {
	/** As it is sent. */
	medium: Media;
	/** As it is recognized again: the signed link of a file differs from try to try, the file does not. */
	identity: unknown;
}

/** The media in their order. */
export async function readMedia(place: Place, gatewayUrl: string): Promise<ReadMedium[]> {
	if (mediaInput.read(place) === 'json') return mediaJson.read(place).map(mediumOfJson);
	const reading = media.read(place).map(async (entry) => await readMedium(entry, gatewayUrl));
	return await Promise.all(reading);
}

function mediumOfJson(entry: JsonObject): ReadMedium {
	const medium = mediumOf(
		asText(entry.type),
		asText(entry.url) ?? '',
		asText(entry.reference_voice),
	);
	return { medium, identity: medium };
}

async function readMedium(place: Place, gatewayUrl: string): Promise<ReadMedium> {
	const picked = source.read(place);
	const withLink = (link: string | undefined) =>
		mediumOf(type.read(place), link, voice.read(place));
	if (picked === undefined) return { medium: withLink(undefined), identity: withLink(undefined) };
	if ('url' in picked) return { medium: withLink(picked.url), identity: withLink(picked.url) };
	const { file } = picked;
	const link = await publicLinkOf(file, { place, field: fileLabel, gatewayUrl });
	return { medium: withLink(link), identity: withLink(fileIdentity(file)) };
}

function mediumOf(
	kind: string | undefined,
	url: string | undefined,
	reference_voice: string | undefined,
): Media {
	return { type: kind ?? '', ...withoutUndefined({ url, reference_voice }) };
}
