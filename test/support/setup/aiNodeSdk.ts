// Runs in every test file. @n8n/node-cli installs an @n8n/ai-node-sdk of its own, which no user has: the nodes find
// only one in NODE_PATH, through which n8n provides it. The engine of the tests is like an n8n that does not.
import Module from 'node:module';

type Resolve = (request: string, parent: { paths?: string[] }, ...more: unknown[]) => string;

const loader = Module as unknown as { _resolveFilename: Resolve };
const resolve = loader._resolveFilename;

loader._resolveFilename = function (request, parent, ...more) {
	const isSdk = request === '@n8n/ai-node-sdk';
	return resolve.call(this, request, isSdk ? { ...parent, paths: [] } : parent, ...more);
};

// The files of a process share the loader.
afterAll(() => {
	loader._resolveFilename = resolve;
});
