// Runs in every test file.
import '../../harness/setup';
import { closeServers } from '../http/scriptedServer';

afterEach(closeServers);
