/**
 * The network of an address, as seen from this machine. No gateway is in a `reserved` one: link-local addresses, those at
 * which clouds serve the credentials of their machines, multicast, documentation, and 0.0.0.0, which some systems take
 * for themselves.
 */
export type Network = 'loopback' | 'private' | 'reserved' | 'public';

/** The first match counts; addresses are written as hexadecimal digits. */
type Networks = ReadonlyArray<readonly [digits: RegExp, network: Network]>;

/** 8 digits. IANA's registry of special-purpose addresses, and the metadata services outside of 169.254. */
const ipv4Networks: Networks = [
	// 127.0.0.0/8
	[/^7f/, 'loopback'],
	// 0.0.0.0/8, 169.254.0.0/16, 192.0.0.0/24, documentation, multicast and beyond; 100.100.100.200, 168.63.129.16
	[/^(00|a9fe|c00000|c00002|c63364|cb0071|[ef]|646464c8|a83f8110)/, 'reserved'],
	// 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, 198.18.0.0/15
	[/^(0a|ac1|c0a8|64[4-7]|c61[23])/, 'private'],
];

/** 32 digits, for addresses that have no IPv4 address in them. */
const ipv6Networks: Networks = [
	[/^0{31}1$/, 'loopback'],
	// fd00:ec2::254
	[/^fd000ec20{20}0254/, 'reserved'],
	// fc00::/7, fec0::/10, 64:ff9b:1::/48
	[/^(f[cd]|fe[c-f]|0064ff9b0001)/, 'private'],
	// Teredo, benchmarks and documentation, and everything else outside of 2000::/3, such as fe80::/10 and ff00::/8
	[/^(2001000[02]|20010db8|3fff0|(?![23]))/, 'reserved'],
];

/** The IPv4 address in an IPv6 address: mapped, translated, compatible, NAT64 or 6to4. */
const embeddedIpv4 =
	/^(?:0{24}|0{20}ffff|0{16}ffff0000|0064ff9b0{16}|2002(?=.{28}$))(?<digits>.{8})/;

/** Names that resolve to a public address in almost no network. */
const names: Networks = [
	[/(^|\.)localhost$/, 'loopback'],
	[
		/^(metadata|instance-data)$|^metadata\.((google|azure)\.internal|goog)$|^instance-data\.ec2\.internal$/,
		'reserved',
	],
	[/^[^.]*$|\.(local|internal|lan)$/, 'private'],
];

/** Names that mostly belong to a machine or its network, but may be public. */
const innerNames: Networks = [
	[/^localhost\d?(\.localdomain\d?)?$|^ip6-(localhost|loopback)$/, 'loopback'],
	[
		/\.(localdomain\d?|svc|cluster|home|home\.arpa|corp|intranet|private|consul|docker)$/,
		'private',
	],
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
	return firstOf(names, plainHost(hostname));
}

/** For a link that a stranger may have chosen: a name that may be of an inner network counts as such. */
export function strictNetworkOf(hostname: string): Network {
	const network = firstOf(innerNames, plainHost(hostname));
	return network === 'public' ? networkOf(hostname) : network;
}

const plainHost = (hostname: string) => hostname.toLowerCase().replace(/(?<!\.)\.+$/, '');

function networkOfIpv6(digits: string): Network {
	const embedded = embeddedIpv4.exec(digits)?.groups?.digits;
	const isOwn = embedded === undefined || firstOf(ipv6Networks, digits) === 'loopback';
	return isOwn ? firstOf(ipv6Networks, digits) : firstOf(ipv4Networks, embedded);
}

const firstOf = (networks: Networks, digits: string): Network =>
	networks.find(([pattern]) => pattern.test(digits))?.[1] ?? 'public';

/** With the zeros that `::` and short groups leave out. */
function ipv6Digits(address: string): string {
	const [before, after = ''] = address.split('::').map((groups) =>
		groups
			.split(':')
			.map((group) => group && group.padStart(4, '0'))
			.join(''),
	);
	return before + '0'.repeat(32 - before.length - after.length) + after;
}
