// Runs in every test file of the engine and the units.
import { removeHome } from '../harness/setup';
import { closeServers } from './scriptedServer';

afterEach(closeServers);
afterAll(removeHome);
