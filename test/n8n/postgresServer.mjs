/**
 * A PostgreSQL with pgvector for one test: PGlite, which is PostgreSQL compiled to WebAssembly, behind its
 * socket server. It runs in its own process.
 * Prints its port; ends when its input ends.
 */
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

const database = await PGlite.create({ extensions: { vector } });
await database.exec('CREATE EXTENSION IF NOT EXISTS vector');
// n8n opens a pool of connections: if only one were allowed, its second query would end the first.
const server = new PGLiteSocketServer({
	db: database,
	host: '127.0.0.1',
	port: 0,
	maxConnections: 5,
});
server.addEventListener('listening', ({ detail }) => process.stdout.write(`${detail.port}\n`));
await server.start();

process.stdin.resume().once('end', async () => {
	await server.stop();
	await database.close();
});
