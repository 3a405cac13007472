const { rm } = require('node:fs/promises');
const { Transform } = require('node:stream');
const { dest, parallel, src } = require('gulp');
const { format } = require('prettier');

/** Copies what tsc leaves behind: icons and codex files, beside the compiled nodes. */
function assets() {
	// gulp 5 decodes files as UTF-8 unless told otherwise, which breaks images.
	return src(['nodes/**/*.{svg,png,json}', 'credentials/**/*.{svg,png}'], {
		base: '.',
		encoding: false,
	}).pipe(dest('dist'));
}

/** Tabs and long lines make the download smaller; tsc has no option for them. */
function code() {
	const style = { parser: 'babel', useTabs: true, printWidth: 200, singleQuote: true };
	const formatted = new Transform({
		objectMode: true,
		transform(file, _encoding, done) {
			format(file.contents.toString(), style)
				.then((text) => done(null, Object.assign(file, { contents: Buffer.from(text) })))
				.catch(done);
		},
	});
	return src('dist/**/*.js').pipe(formatted).pipe(dest('dist'));
}

exports.clean = async () => await rm('dist', { recursive: true, force: true });
exports.default = parallel(assets, code);
