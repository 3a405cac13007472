/** The results of the world, which the suite prints: a row for each program, a column for each operation. */
export class Table {
	private readonly rows = new Map<string, Map<string, string>>();

	constructor(private readonly columns: string[]) {}

	set(row: string, column: string, cell: string): void {
		const cells = this.rows.get(row) ?? new Map<string, string>();
		this.rows.set(row, cells.set(column, cell));
	}

	print(): void {
		const names = [...this.rows.keys()];
		const width = Math.max(...names.map(({ length }) => length));
		const columns = this.columns.filter((column) =>
			[...this.rows.values()].some((cells) => cells.has(column)),
		);
		const line = (name: string, cells: string[]) =>
			`${name.padEnd(width)}  ${cells.map((cell) => cell.padEnd(4)).join(' ')}`.trimEnd();
		const lines = [
			...columns.map((column, index) => `${String(index + 1).padStart(3)}  ${column}`),
			line(
				'',
				columns.map((_, index) => String(index + 1)),
			),
			...names.map((name) =>
				line(
					name,
					columns.map((column) => this.rows.get(name)?.get(column) ?? ''),
				),
			),
			'ok: the right result; an HTTP status, or 0 without one: an error, and ? if it may be charged',
		];
		process.stdout.write(`\n${lines.join('\n')}\n\n`);
	}
}
