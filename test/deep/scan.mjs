// Usage: node scan.mjs <folder> <source | tarball>
// Prints what n8n's scanner for community packages reports about the folder. The scanner's own command does the same
// after it has downloaded both from where they are published. It runs in its own process, for its environment.
import {
	analyzePackage,
	SOURCE_FILE_PATTERNS,
} from '@n8n/scan-community-package/scanner/scanner.mjs';

const patterns = {
	source: SOURCE_FILE_PATTERNS,
	tarball: ['**/*.js', 'package.json'],
};

const [folder, kind] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await analyzePackage(folder, patterns[kind])));
