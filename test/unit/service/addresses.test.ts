import { networkOf, type Network } from '../../../nodes/shared/service/addresses';

const hosts: Record<Network, string> = {
	loopback: `
		localhost LOCALHOST localhost. app.localhost 127.0.0.1 127.255.0.9 127.1 2130706433
		0x7f.1 0177.0.0.1 127.0.0.1. [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1]
		[64:ff9b::127.0.0.1] [2002:7f00:1::] [::ffff:0:127.0.0.1] [0:0:0:0:0:0:0:1]
	`,
	reserved: `
		169.254.169.254 169.254.0.1 2852039166 0xa9fea9fe [::ffff:169.254.169.254] [fe80::1]
		[febf::1] [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::1] [fd00:ec2::254] 100.100.100.200
		192.0.0.192 168.63.129.16 metadata.google.internal metadata 0.0.0.0 0 0.1.2.3 [::]
		192.0.0.1 192.0.2.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
		[ff02::1] [100::1] [2001:db8::1] [2001::1] [4000::1] [3fff::1]
	`,
	private: `
		10.0.0.7 172.16.0.1 172.31.255.255 192.168.1.5 100.64.0.1 100.127.255.255 198.18.0.1
		198.19.255.255 [::ffff:10.0.0.7] [64:ff9b:1::1] [fc00::1] [fd12:3456::1] [fec0::1]
		[2002:c0a8:105::1] intranet intranet. nas.local db.internal printer.LAN
		host.docker.internal
	`,
	public: `
		8.8.8.8 1.1.1.1 9.255.255.255 11.0.0.1 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1
		169.253.0.1 192.0.1.1 192.167.0.1 198.17.0.1 198.20.0.1 223.255.255.255 128.0.0.1
		[2606:4700::1111] [2a00:1450::1] [::ffff:8.8.8.8] [64:ff9b::8.8.8.8] [2002:808:808::1]
		firm.example localhost.example a.b.c. 10.firm.example 127.0.0.1.example local.example
		metadata.firm.example
	`,
};

describe.each(Object.entries(hosts))('the network %s', (network, names) => {
	it.each(names.trim().split(/\s+/))('has the host %s', (name) => {
		expect(networkOf(new URL(`http://${name}/`).hostname)).toBe(network);
	});
});
