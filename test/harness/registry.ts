import { PackageDirectoryLoader } from 'n8n-core';
import knownCredentials from 'n8n-nodes-base/dist/known/credentials.json';
import knownNodes from 'n8n-nodes-base/dist/known/nodes.json';
import {
	NodeHelpers,
	type ICredentialType,
	type INodeType,
	type INodeTypes,
	type IVersionedNodeType,
} from 'n8n-workflow';
import path from 'node:path';
import { ModelGatewayApi } from '../../credentials/ModelGatewayApi.credentials';
// With their extensions, because some loaders find the .json file of the same name first.
import { EmbeddingsModelGateway } from '../../nodes/EmbeddingsModelGateway/EmbeddingsModelGateway.node.js';
import { LmChatModelGateway } from '../../nodes/LmChatModelGateway/LmChatModelGateway.node.js';
import { ModelGateway } from '../../nodes/ModelGateway/ModelGateway.node.js';
import { ModelGatewayWaitForVideo } from '../../nodes/ModelGatewayWaitForVideo/ModelGatewayWaitForVideo.node.js';
import { asTool } from './tools';

/** The classes of our package, which n8n finds by the names of their files. */
const classes: Record<string, new () => INodeType | ICredentialType> = {
	ModelGatewayApi,
	ModelGateway,
	ModelGatewayWaitForVideo,
	LmChatModelGateway,
	EmbeddingsModelGateway,
};

/**
 * n8n's own loader opens each package on first use: what n8n refuses to load fails here too. There are hundreds of core
 * nodes, which are loaded one by one, as in n8n.
 */
const openers: Record<string, () => PackageDirectoryLoader> = {
	'n8n-nodes-base': () => {
		const folder = path.dirname(require.resolve('n8n-nodes-base/package.json'));
		const loader = new PackageDirectoryLoader(folder);
		loader.known = { nodes: knownNodes, credentials: knownCredentials };
		return loader;
	},
	'n8n-nodes-model-gateway': () => {
		const loader = new PackageDirectoryLoader(path.resolve(__dirname, '../..'));
		// n8n would load them from the built package.
		const loadClass = (file: string) => new classes[path.basename(file).split('.')[0]]();
		Object.assign(loader, { loadClass });
		const { n8n, version } = loader.packageJson;
		n8n?.nodes?.forEach((file) => loader.loadNodeFromFile(file, version));
		n8n?.credentials?.forEach((file) => loader.loadCredentialFromFile(file));
		return loader;
	},
};

const loaders = new Map<string, PackageDirectoryLoader>();

function loaderOf(packageName: string): PackageDirectoryLoader {
	const loader = loaders.get(packageName) ?? openers[packageName]?.();
	if (!loader) throw new Error(`The harness knows no package "${packageName}"`);
	loaders.set(packageName, loader);
	return loader;
}

const registeredNodes = new Map<string, INodeType | IVersionedNodeType>();

/** Registers nodes of a test as `test.<name>`. */
export function registerTypes({ nodes }: { nodes: INodeType[] }): void {
	for (const node of nodes) registeredNodes.set(`test.${node.description.name}`, node);
}

/** Whether the package of a node type is here; n8n's AI nodes, for example, are not. */
export function isKnownPackage(type: string): boolean {
	return type.split('.')[0] in openers;
}

export const nodeTypes: INodeTypes = {
	getByName(type) {
		const registered = registeredNodes.get(type);
		if (registered) return registered;
		const [packageName, name] = type.split('.');
		const loader = loaderOf(packageName);
		// As in n8n, a node that can be a tool has a second name.
		const node = name.replace(/Tool$/, '');
		return node !== name && !(name in loader.known.nodes)
			? asTool(loader.getNode(node).type as INodeType)
			: loader.getNode(name).type;
	},
	getByNameAndVersion(type, version) {
		return NodeHelpers.getVersionedNodeType(this.getByName(type), version);
	},
	getKnownTypes: () => ({}),
};

/** The version that a new node gets in n8n's editor. */
export function defaultVersion(type: string): number {
	const nodeType = nodeTypes.getByName(type);
	if ('nodeVersions' in nodeType) return nodeType.currentVersion;
	const { defaultVersion, version } = nodeType.description;
	return defaultVersion ?? Math.max(...[version].flat());
}

/** Throws when no package has the credential type. */
export function credentialType(name: string): ICredentialType {
	const packageName = name in knownCredentials ? 'n8n-nodes-base' : 'n8n-nodes-model-gateway';
	return loaderOf(packageName).getCredential(name).type;
}

/** The nodes of our package that use the credential type, in the order in which n8n tries their tests. */
export function nodesWith(type: string): INodeType[] {
	const { known } = loaderOf('n8n-nodes-model-gateway');
	const names = known.credentials[type]?.supportedNodes ?? [];
	return names.map((name) => nodeTypes.getByNameAndVersion(`n8n-nodes-model-gateway.${name}`));
}
