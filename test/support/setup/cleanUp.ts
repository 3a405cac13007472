// Runs in every engine test and unit test.
import { removeHome } from '../../harness/setup';
import { closeServers } from '../http/scriptedServer';

afterEach(closeServers);
afterAll(removeHome);
