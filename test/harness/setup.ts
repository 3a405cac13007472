// n8n reads its settings once, when n8n-core is loaded, so this file has to be loaded first.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import 'reflect-metadata';

// n8n creates the folder when it first needs it, so a test that never starts the engine leaves nothing behind.
const home = path.join(tmpdir(), `n8n-harness-${process.pid}-${Date.now()}`);

process.env.N8N_USER_FOLDER = home;
process.env.N8N_ENCRYPTION_KEY = 'harness-encryption-key';
// n8n logs into a file, which the tests search for keys.
process.env.N8N_LOG_LEVEL = 'debug';
process.env.N8N_LOG_OUTPUT = 'file';
process.env.N8N_LOG_FILE_LOCATION = path.join(home, 'n8n.log');
// The hosts that n8n's protection from forged requests lets through when a test turns it on.
process.env.N8N_SSRF_ALLOWED_IP_RANGES = '127.0.0.1/32';
process.env.N8N_SSRF_BLOCKED_HOSTNAMES = 'storage.blocked';

// Removes n8n's settings and every binary file that the executions stored. jest ends its workers with a signal.
process.once('SIGTERM', () => process.exit(143));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));
