const { rm, writeFile } = require('node:fs/promises');
const { minify } = require('@swc/core');
const { dest, series, src } = require('gulp');

/** Copies what tsc leaves behind: icons and codex files, beside the compiled nodes. */
function assets() {
	// gulp 5 decodes files as UTF-8 unless told otherwise, which breaks images.
	return src(['nodes/**/*.{svg,png,json}', 'credentials/**/*.{svg,png}'], {
		base: '.',
		encoding: false,
	}).pipe(dest('dist'));
}

/**
 * Shortens what is there by more than a quarter: no white space, shorter forms. Files and names stay as they
 * are: n8n finds classes by name, and who reads the package, or an error out of it, meets the names of the source.
 */
async function compact() {
	for await (const { path, contents, extname } of src('dist/**/*.{js,json}')) {
		const text = contents.toString();
		const isJson = extname === '.json';
		const short = isJson ? JSON.stringify(JSON.parse(text)) : await minified(text);
		await writeFile(path, short);
	}
}

/** What tells other compilers of default exports, of which there are none, and names exports before they are there. */
const preludes =
	/^(Object\.defineProperty\(exports, "__esModule", .*|exports\.\w+ = (exports\.\w+ = )*void 0);$/gm;

/** How the compiler calls what is imported: without a `this`, of which no function here makes use. */
const calls = /\(0, (\w+\.\w+)\)(?=\()/g;

async function minified(text) {
	const { code } = await minify(text.replace(preludes, '').replace(calls, '$1'), {
		compress: { passes: 4 },
		mangle: false,
		toplevel: true,
	});
	return code;
}

exports.clean = async () => await rm('dist', { recursive: true, force: true });
exports.default = series(assets, compact);
