const { rm } = require('node:fs/promises');
const { dest, src } = require('gulp');

/** Copies what tsc leaves behind: icons and codex files, beside the compiled nodes. */
function assets() {
	// gulp 5 decodes files as UTF-8 unless told otherwise, which breaks images.
	return src(['nodes/**/*.{svg,png,json}', 'credentials/**/*.{svg,png}'], {
		base: '.',
		encoding: false,
	}).pipe(dest('dist'));
}

exports.clean = async () => await rm('dist', { recursive: true, force: true });
exports.default = assets;
