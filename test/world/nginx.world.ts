import { nginxCommand, nginxProxies } from './proxies/nginx';
import { describeProxies } from './proxies/proxy';

describeProxies(nginxProxies, nginxCommand);
