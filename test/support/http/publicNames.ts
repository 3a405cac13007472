import dns from 'node:dns';

/** A domain whose names look public, and lead to this machine in tests. */
const domain = '.here.example';

/** The address of a server on this machine under a public name. @param name its first part */
export const publicUrl = (url: string, name = 'storage') =>
	url.replace('127.0.0.1', `${name}${domain}`);

/** Node's own lookup, with the public names of this machine. */
export const lookUpHere = ((name: string, ...rest: unknown[]) => {
	const host = name.endsWith(domain) ? '127.0.0.1' : name;
	Reflect.apply(lookup, dns, [host, ...rest]);
}) as typeof dns.lookup;

/** The original, which tests may replace. */
const { lookup } = dns;
