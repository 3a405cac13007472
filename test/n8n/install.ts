/** Installs what the end-to-end tests and the playground need; does nothing when it is there. */
import { ensureInstallation, testedVersion } from './installation';

void ensureInstallation(testedVersion);
