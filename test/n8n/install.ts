/** Installs what the end-to-end tests and the playground need, if it is missing. */
import { ensureInstallation, testedVersion } from './installation';

void ensureInstallation(testedVersion);
