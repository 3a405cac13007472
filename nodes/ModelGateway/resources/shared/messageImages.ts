import type { INodeProperties } from 'n8n-workflow';
import { itemImage } from '../../../shared/n8n/files/itemFile';
import { sourceChoices, urlOrFile, type Source } from '../../../shared/n8n/files/urlOrFile';
import type { Field } from '../../../shared/n8n/parameters/field';
import { linkField, listField, uncheckedText } from '../../../shared/n8n/parameters/fieldKinds';
import type { Scope } from '../../../shared/n8n/parameters/itemParameters';

/** An image of a message: a link, or a file of the item that is sent as a data URL. */
export type MessageImage = Source & { detail?: string };

const imageUrl = 'messages[].content[].image_url.url';

const imageSource = urlOrFile({
	source: {
		displayName: 'Source',
		name: 'source',
		default: 'url',
		options: sourceChoices(),
	},
	url: linkField({
		displayName: 'URL',
		name: 'url',
		request: imageUrl,
		placeholder: 'e.g. https://example.com/photo.png',
		description: 'An https link or a data URL',
	}),
	file: uncheckedText({
		displayName: 'Input Binary Field',
		name: 'binaryField',
		request: imageUrl,
		default: 'data',
		hint: 'The name of the input field with the image',
	}),
	find: itemImage,
	links: { multipleLinksHint: 'add one entry for each (Add Image)', takesDataUrl: true },
	labels: { url: '', file: '' },
});

export const detailField = uncheckedText({
	displayName: 'Detail',
	name: 'detail',
	request: 'messages[].content[].image_url.detail',
	placeholder: 'e.g. high',
	description: 'How closely the model looks at the image, for models that support it',
});

/** The images of a message. @param hasDetail whether each image has its own Detail */
export function imagesField({
	hasDetail,
	...own
}: Pick<INodeProperties, 'description' | 'typeOptions'> & { hasDetail: boolean }): Field<
	MessageImage[]
> {
	return listField({
		displayName: 'Images',
		name: 'images',
		placeholder: 'Add Image',
		entry: {
			label: 'Image',
			fields: [...imageSource.fields, ...(hasDetail ? [detailField] : [])],
		},
		read: (entries) => entries.flatMap((entry) => readMessageImage(entry) ?? []),
		...own,
	});
}

function readMessageImage(scope: Scope): MessageImage | undefined {
	const source = imageSource.read(scope);
	const detail = detailField.read(scope);
	return source && { ...source, ...(detail !== undefined && { detail }) };
}
