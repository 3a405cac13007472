/** Installs the programs and the packages of the world, if they are missing. */
import { existsSync } from 'node:fs';
import { ensureCommands, ensurePackage } from '../n8n/debian';
import { ensurePackages } from '../n8n/packages';
import { brotliModule } from './proxies/nginx';

async function install(): Promise<void> {
	await ensureCommands({
		nginx: 'nginx',
		haproxy: 'haproxy',
		tinyproxy: 'tinyproxy',
		openssl: 'openssl',
	});
	if (!existsSync(brotliModule)) await ensurePackage('libnginx-mod-http-brotli-filter');
	await ensurePackages(__dirname, 'world');
}

void install();
