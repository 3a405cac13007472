import { haproxyCommand, haproxyProxies } from './proxies/haproxy';
import { describeProxies } from './proxies/proxy';

describeProxies(haproxyProxies, haproxyCommand);
