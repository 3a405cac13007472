import { medianOf, type Row } from './rounds';
import type { Section, Table } from './work';

const width = 860;
/** The left end of the bars, and the length of the longest one. */
const [left, longest] = [330, 420];
const [rowHeight, headHeight, gap] = [24, 34, 14];
/** Readable on light and on dark pages. */
const colours = { text: '#6e7781', ours: '#2da44e', theirs: '#8c959f' };

const units = {
	seconds: (row: Row) => {
		const value = medianOf(row, ({ seconds }) => seconds);
		return { value, label: `${value < 100 ? value.toFixed(1) : value.toFixed(0)} s` };
	},
	growth: (row: Row) => {
		const value = medianOf(row, ({ growth }) => growth) / 1e6;
		return { value, label: `+${value.toFixed(0)} MB` };
	},
};

/** Draws the medians as an SVG with bars. */
export function chart(sections: Section[]): string {
	let top = 0;
	const parts: string[] = [];
	for (const { title, tables } of sections) {
		for (const table of tables.filter(({ bars }) => bars)) {
			parts.push(`<g transform="translate(0 ${top})">${panel(title, table)}</g>`);
			top += headHeight + table.rows.length * rowHeight + gap;
		}
	}
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" width="${width}" height="${top}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="${colours.text}">
${parts.join('\n')}
</svg>
`;
}

function panel(title: string, { title: name, rows, bars = 'seconds' }: Table): string {
	const figures = rows.map(units[bars]);
	const max = Math.max(...figures.map(({ value }) => value));
	const lines = figures.map(({ value, label }, index) => {
		const y = headHeight + index * rowHeight;
		const length = Math.max(2, (value / max) * longest);
		const isOurs = /Model Gateway|Wait for Video/.test(rows[index].way);
		const colour = isOurs ? colours.ours : colours.theirs;
		return `<text x="${left - 10}" y="${y + 14}" text-anchor="end">${escape(rows[index].way)}</text><rect x="${left}" y="${y + 2}" width="${length.toFixed(1)}" height="16" rx="3" fill="${colour}"/><text x="${(left + length + 8).toFixed(1)}" y="${y + 14}">${label}</text>`;
	});
	const heading = name === 'Time' ? title : `${title}: ${name}`;
	return `<text x="0" y="20" font-size="15" font-weight="600">${escape(heading)}</text>${lines.join('')}`;
}

const escape = (text: string): string =>
	text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
