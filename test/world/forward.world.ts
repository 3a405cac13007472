import { describeForwardProxies, forwardProxies } from './proxies/tinyproxy';

describeForwardProxies(forwardProxies, 'HTTP_PROXY');
