const { rename, rm } = require('node:fs/promises');
const { dest, series, src } = require('gulp');

// tsc compiles into this folder. It becomes `dist` when it is whole, so a build that fails leaves the last one in place.
const built = 'dist.new';

const remove = async (folder) => await rm(folder, { recursive: true, force: true });

/** Copies what tsc leaves behind: icons and codex files, beside the compiled nodes. */
function assets() {
	// gulp 5 decodes files as UTF-8 unless told otherwise, which breaks images.
	return src(['nodes/**/*.{svg,png,json}', 'credentials/**/*.{svg,png}'], {
		base: '.',
		encoding: false,
	}).pipe(dest(built));
}

async function swap() {
	await remove('dist');
	await rename(built, 'dist');
}

exports.clean = async () => await remove(built);
exports.default = series(assets, swap);
