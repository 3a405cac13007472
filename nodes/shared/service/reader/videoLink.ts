import { textAt, withTexts, type JsonObject } from '../json';
import { fileTypeOf } from '../files/fileType';
import { asLink } from '../links';
import { decodeEntities } from '../markup';
import { maxMarkupLength } from '../protocol/bounds';
import { hasError } from './reason';
import { named, type Answer, type Rule, type Value } from './values';

/**
 * The nodes do not declare these as `sensitiveOutputFields`: the link is what the user ordered, and n8n (not yet in 2.40.7)
 * redacts such fields for every user, permanently.
 */
const linkNames = ['result_url', 'video_url', 'url', 'download_url', 'content_url', 'output_url'];
const isLikelyLink: Rule = ({ name }) =>
	/ur[il]|link|^(?:data|video|content|output|result|file|src|href)$/.test(name);
const isNotOfVideo: Rule = ({ path }) =>
	path.some((name) =>
		/thumb|cover|poster|image|preview|frame|callback|webhook|audio|voice|input|prompt|status|poll|cancel|self|doc/.test(
			name,
		),
	);
const textsOf = ({ values }: Answer) =>
	values.filter((value) => typeof value.value === 'string' && !isNotOfVideo(value));
/** A text with a space may be a sentence that begins with a link. Base64 may have line breaks. */
const isOneWord: Rule = ({ value }) => !/[^\S\r\n]/.test(String(value).trim());

/** Such as the first frame, a playlist, or the address of the job itself. */
const otherFile =
	/\.(?:png|jpe?g|webp|gif|avif|svg|json|txt|srt|vtt|mp3|wav|m3u8|mpd|html?)(?:[?#]|$)|\/(?:tasks|jobs|predictions|operations)\/[^/.?#]+\/?(?:[?#]|$)/i;
/** Some services repeat the files that were sent with the order. */
const given = /^(?:(?:ref|reference)(?:video|url|media)|source(?:video|url)|driving)/;
const isOfOtherFile = ({ value, siblings, path }: Value) =>
	otherFile.test(String(value)) ||
	path.some((name) => given.test(name)) ||
	/^(?:image|picture|audio|text|thumbnail|cover|reference|first_?frame)/i.test(
		textAt(siblings, 'type', 'kind') ?? '',
	);

interface Link {
	link: string;
	/** Whether it is probably that of another file. */
	isOther: boolean;
}

/**
 * The link to the video ("Endpoints" 2 and 13), or a data URL with it: under a well-known name, a likely one, or any
 * other; of several, the least nested. A link to another kind of file counts only where there is no other link.
 * @param base resolves relative links
 * @returns `isFile`: it surely leads to a video, and a job has none before it has finished
 */
export function videoIn(
	answer: Answer,
	base?: string,
): { link: string; isFile: boolean } | undefined {
	const best = bestLink(answer, base);
	// A remark about a link, such as when there is a file, is not read.
	if (best === undefined) return onlyLinkInTexts(answer);
	const { link, isOther } = best;
	return { link, isFile: isVideo(link) && !isOther && !hasError(answer) };
}

const isVideo = (link: string) => /^data:|^[^?#]*\.(?:mp4|m4v|mov|webm|mkv)(?:[?#]|$)/i.test(link);

/** How many videos there are in the list that has this link; 1 where it is in none. */
export function countVideos(answer: Answer, link: string): number {
	const listed = textsOf(answer)
		.filter(({ isOneOfMany }) => isOneOfMany)
		.flatMap((value) => linkOf(value).map((found) => ({ ...found, place: value.path.join('.') })))
		.filter(({ isOther }) => !isOther);
	const own = listed.find((one) => one.link === link);
	const others = listed.filter((one) => one.place === own?.place && isVideo(one.link));
	return new Set([link, ...others.map((one) => one.link)]).size;
}

function bestLink(answer: Answer, base?: string): Link | undefined {
	const texts = textsOf(answer);
	const likely = texts.filter(isLikelyLink);
	const ranked = [
		...linkNames.flatMap((name) => texts.filter(named(name))),
		...likely.filter(isOneWord),
		...likely,
	].flatMap((value) => linkOf(value, base));
	const whole = texts.filter(({ name }) => name === '');
	const others = [
		...texts.filter(isOneWord).flatMap((value) => linkOf(value)),
		...whole.flatMap((value) => linkOf(value, base)),
	];
	const all = [...ranked, ...others];
	return all.find(({ isOther }) => !isOther) ?? all[0];
}

/** A link within a text: quoted, in brackets or Markdown, or in a sentence. */
const linkInText = /https?:\/\/[^\s"'`<>()[\]{}|\\^\u2018-\u203a\u3000-\u30ff\uff00-\uffef]+/gi;

/** The text around a link, without its label in Markdown. */
const withoutLabel = (text: string, link: string) =>
	text.replace(link, '').replace(/\[[^[\]]{0,200}\]\(/, '(');

/** The last resort: a link that cannot be mistaken, since it is a video file's, or alone in its text. */
function onlyLinkInTexts(answer: Answer): { link: string; isFile: false } | undefined {
	// Its text may lead to the instructions of a service.
	if (hasError(answer)) return undefined;
	const texts = answer.values.filter((value) => !isNotOfVideo(value) && !isOfOtherFile(value));
	const links = new Set<string>();
	let left = maxMarkupLength;
	for (const { value } of texts) {
		if (typeof value !== 'string' || value.length > left) continue;
		left -= value.length;
		const found = /^\s*<(?:!doctype|html)/i.test(value) ? [] : (value.match(linkInText) ?? []);
		for (const text of found) {
			const link = asLink(decodeEntities(text, true).replace(/(?<![.,;:!?*_~])[.,;:!?*_~]+$/, ''));
			const isAlone = found.length === 1 && !/[\p{L}\p{N}]/u.test(withoutLabel(value, text));
			if (link !== undefined && (isAlone || isVideo(link))) links.add(link);
		}
	}
	const [link] = links;
	return links.size === 1 ? { link, isFile: false } : undefined;
}

function linkOf(value: Value, base?: string): Link[] {
	const text = String(value.value);
	const link = videoInText(text) ?? asLink(text, base);
	return link === undefined ? [] : [{ link, isOther: isOfOtherFile(value) }];
}

/** Videos in the fields themselves become files, and would fill the execution's log. */
export const withoutVideos = (fields: JsonObject): JsonObject =>
	withTexts(fields, (text) => (videoInText(text) === undefined ? text : undefined));

/** The data URL of a video that a text holds as such, or as base64. */
function videoInText(given: string): string | undefined {
	const text = given.trim();
	const [declared = ''] = /^data:[^,]{0,200},/i.exec(text) ?? [];
	if (/^data:(?:video\/|application\/octet-stream)/i.test(declared)) return text;
	// Some encoders write it in lines.
	const head = text.slice(declared.length, declared.length + 800).replace(/[\r\n]+/g, '');
	if (!/^[\w+/-]{100,}={0,2}$/.test(head)) return undefined;
	const type = fileTypeOf(Buffer.from(head, 'base64'));
	if (type?.kind !== 'video') return undefined;
	return declared === '' ? `data:${type.mimeType};base64,${text}` : text;
}
