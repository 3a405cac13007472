import dns from 'node:dns';

/** A domain whose names look public, and lead to this machine in tests. */
const domain = '.here.example';

/** The address of a server on this machine under a public name. @param name its first part */
export const publicUrl = (url: string, name = 'storage') =>
	url.replace('127.0.0.1', `${name}${domain}`);

export const isPublicName = (name: string) => name.endsWith(domain);

const { lookup } = dns;

/** Node's own lookup, with the public names of this machine. */
export const lookUp = ((name: string, ...rest: unknown[]) => {
	Reflect.apply(lookup, dns, [isPublicName(name) ? '127.0.0.1' : name, ...rest]);
}) as typeof lookup;
