import { describeForwardProxies, tunnels } from './proxies/tinyproxy';

describeForwardProxies(tunnels, 'HTTPS_PROXY');
