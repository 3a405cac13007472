import type { INodeProperties } from 'n8n-workflow';
import type { Media } from '../../../shared/gateway/jobs/referenceVideo';
import { asText, isObject, parseJson, type JsonObject } from '../../../shared/gateway/json';
import { referenceVoice } from '../../../shared/gateway/protocol/models';
import { fileIdentity, publicLinkOf } from '../../../shared/n8n/files/binary';
import type { ItemParameters } from '../../../shared/n8n/parameters/itemParameters';

const { min, max } = referenceVoice.seconds;

/** One medium, in the order in which it is filled in. */
const mediumFields: INodeProperties[] = [
	{
		displayName: 'Type',
		name: 'type',
		type: 'options',
		options: [
			{
				name: 'First Frame',
				value: 'first_frame',
				description: 'The picture that the video starts with (beta models only)',
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
	},
	{
		displayName: 'Source',
		name: 'source',
		type: 'options',
		options: [
			{
				name: 'File of an Earlier Node',
				value: 'binary',
				description: 'N8n makes a public link to it; needs an n8n with a public address',
			},
			{
				name: 'URL',
				value: 'url',
			},
		],
		default: 'url',
	},
	{
		displayName: 'URL',
		name: 'url',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/person.png',
		displayOptions: { show: { source: ['url'] } },
		description: 'A public https link',
	},
	{
		displayName: 'Input Binary Field',
		name: 'binaryField',
		type: 'string',
		default: 'data',
		placeholder: 'e.g. data',
		displayOptions: { show: { source: ['binary'] } },
		hint: 'The name of the input field with the file',
	},
	{
		displayName: 'Voice URL',
		name: 'voiceUrl',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/voice.mp3',
		description: `The voice of this subject: a wav or mp3 of ${min} to ${max} seconds (beta models only)`,
	},
];

/** The fields that take reference media, one by one or as JSON. */
export const mediaFields: INodeProperties[] = [
	{
		displayName: 'Media Input',
		name: 'mediaInput',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Fields Below', value: 'fields' },
			{ name: 'JSON', value: 'json', description: 'A list of media, from an earlier node' },
		],
		default: 'fields',
		description: 'How the reference media are given',
	},
	{
		displayName: 'Media',
		name: 'media',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true, sortable: true },
		placeholder: 'Add Media',
		default: {},
		displayOptions: { show: { mediaInput: ['fields'] } },
		description: 'Reference pictures and videos. Their order is kept.',
		options: [
			{
				displayName: 'Media',
				name: 'values',
				values: mediumFields,
			},
		],
	},
	{
		displayName: 'Media (JSON)',
		name: 'mediaJson',
		type: 'json',
		default: '[]',
		displayOptions: { show: { mediaInput: ['json'] } },
		placeholder: 'e.g. [{ "type": "reference_image", "url": "https://example.com/person.png" }]',
		description: 'A list of objects with type, URL and, where wanted, reference_voice',
	},
];

/** The media in their order, as they are sent and as they are recognized again. */
export async function readMedia(
	parameters: ItemParameters,
	gatewayUrl: string,
): Promise<{ media: Media[]; identity: unknown[] }> {
	const reading =
		parameters.value('mediaInput', 'fields') === 'json'
			? jsonEntries(parameters).map((entry) => linked(entry, asText(entry.reference_voice)))
			: parameters.entries('media.values').map((entry, index) => {
					const voice = asText(entry.voiceUrl);
					if (entry.source !== 'binary') return linked(entry, voice);
					return signed(entry, voice, {
						parameters,
						field: `Media ${index + 1}: File`,
						gatewayUrl,
					});
				});
	const read = await Promise.all(reading);
	return {
		media: read.map(({ medium }) => medium),
		identity: read.map(({ identity }) => identity),
	};
}

interface ReadMedium {
	medium: Media;
	identity: unknown;
}

function linked(entry: JsonObject, voice: string | undefined): ReadMedium {
	const medium = mediumOf(entry, asText(entry.url) ?? '', voice);
	return { medium, identity: medium };
}

/** A file of this item: its signed link differs from try to try, the file behind it does not. */
async function signed(
	entry: JsonObject,
	voice: string | undefined,
	{
		parameters,
		field,
		gatewayUrl,
	}: { parameters: ItemParameters; field: string; gatewayUrl: string },
): Promise<ReadMedium> {
	const file = parameters.binary(asText(entry.binaryField) ?? 'data', field);
	const link = file && (await publicLinkOf(file, parameters, field, gatewayUrl));
	const identity = mediumOf(entry, file && fileIdentity(file), voice);
	return { medium: mediumOf(entry, link, voice), identity };
}

function mediumOf(entry: JsonObject, url: string | undefined, voice: string | undefined): Media {
	return {
		type: asText(entry.type) ?? '',
		...(url !== undefined && { url }),
		...(voice !== undefined && { reference_voice: voice }),
	};
}

function jsonEntries(parameters: ItemParameters): JsonObject[] {
	const value = parameters.value('mediaJson', '[]');
	const parsed = typeof value === 'string' ? parseJson(value) : value;
	const list = isObject(parsed) ? [parsed] : parsed;
	if (Array.isArray(list) && list.every(isObject)) return list;
	parameters.report('Media (JSON)', 'must be a list of objects with type and url');
	return [];
}
