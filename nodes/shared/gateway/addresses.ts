/**
 * The network that an address belongs to, as seen from this machine. `linkLocal` has also the other addresses at which
 * clouds serve the credentials of their machines.
 */
export type Network = 'loopback' | 'linkLocal' | 'private' | 'public';

/** The first match counts; addresses are written as hexadecimal digits. */
type Networks = ReadonlyArray<readonly [digits: RegExp, network: Network]>;

/** 8 digits. IANA's registry of special-purpose addresses, and the metadata services that are outside of 169.254. */
const ipv4Networks: Networks = [
	// 127.0.0.0/8, and 0.0.0.0/8, with which systems mean themselves
	[/^(7f|00)/, 'loopback'],
	// 169.254.0.0/16; 100.100.100.200, 168.63.129.16, 192.0.0.192
	[/^(a9fe|646464c8|a83f8110|c00000c0)/, 'linkLocal'],
	// 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10
	[/^(0a|ac1|c0a8|64[4-7])/, 'private'],
	// 192.0.0.0/24, 198.18.0.0/15, documentation, multicast and reserved addresses
	[/^(c00000|c61[23]|c00002|c63364|cb0071|[ef])/, 'private'],
];

/** 32 digits, for addresses that have no IPv4 address in them. */
const ipv6Networks: Networks = [
	[/^0{31}[01]$/, 'loopback'],
	// fe80::/10; fd00:ec2::254
	[/^(fe[89ab]|fd000ec20{20}0254)/, 'linkLocal'],
	// Teredo, benchmarks and documentation, and everything outside of 2000::/3, such as fc00::/7
	[/^(2001000[02]|20010db8|3fff0|(?![23]))/, 'private'],
];

/** The IPv4 address in an IPv6 address: mapped, translated, compatible, NAT64 or 6to4. */
const embeddedIpv4 =
	/^(?:0{24}|0{20}ffff|0{16}ffff0000|0064ff9b0{16}|2002(?=.{28}$))(?<digits>.{8})/;

/** Names that resolve to an address of another network than public in every, or almost every, network. */
const names: Networks = [
	[/(^|\.)localhost$/, 'loopback'],
	[/^(metadata|instance-data)$|^metadata\.(google\.internal|goog)$/, 'linkLocal'],
	[/^[^.]*$|\.(local|internal|lan)$/, 'private'],
];

/**
 * The network of a host, as far as its name or IP address says.
 * @param hostname as in a parsed URL, which has brackets around IPv6 addresses, and other spellings of IPv4 resolved
 */
export function networkOf(hostname: string): Network {
	if (hostname.startsWith('[')) return networkOfIpv6(ipv6Digits(hostname.slice(1, -1)));
	if (/^\d+(\.\d+){3}$/.test(hostname)) {
		const digits = hostname.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
		return firstOf(ipv4Networks, digits.join(''));
	}
	return firstOf(names, hostname.toLowerCase().replace(/\.$/, ''));
}

function networkOfIpv6(digits: string): Network {
	const embedded = embeddedIpv4.exec(digits)?.groups?.digits;
	const isOwn = embedded === undefined || firstOf(ipv6Networks, digits) === 'loopback';
	return isOwn ? firstOf(ipv6Networks, digits) : firstOf(ipv4Networks, embedded);
}

const firstOf = (networks: Networks, digits: string): Network =>
	networks.find(([pattern]) => pattern.test(digits))?.[1] ?? 'public';

/** All digits of an address, with the zeros that `::` and short groups leave out. */
function ipv6Digits(address: string): string {
	const [before, after = ''] = address.split('::').map((groups) =>
		groups
			.split(':')
			.map((group) => group && group.padStart(4, '0'))
			.join(''),
	);
	return before + '0'.repeat(32 - before.length - after.length) + after;
}
