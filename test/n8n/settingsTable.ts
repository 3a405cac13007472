import { queueSettings, type ProcessKind } from './queueSettings';
import { aligned } from '../support/pages/markdown';

const processNames: Record<ProcessKind, string> = {
	main: 'main',
	webhook: 'webhook processes',
	worker: 'workers',
};

/** The table of settings in docs/queue-mode.md. */
export const settingsTable = (): string =>
	aligned([
		['Setting', "n8n's default", 'Recommended', 'Where', 'Why'],
		...queueSettings.map(({ names, standard, recommended = 'the default', processes, why }) => [
			names.map((name) => (name.startsWith('_') ? name : `\`${name}\``)).join(', '),
			standard,
			recommended,
			processes?.map((kind) => processNames[kind]).join(', ') ?? 'everywhere',
			why,
		]),
	]);
