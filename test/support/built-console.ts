/** The built console, where control planes that run from the sources look for it. */
import { buildInto } from '../../src/control/console/app/build-into.ts';
import { builtFolders, PACKAGE_ROOT } from '../../src/control/console/app/console-source.ts';

/** Builds it unless it is there. Call it before a control plane that shall have it starts. */
export async function buildConsoleNow(): Promise<void> {
  await buildInto(builtFolders(PACKAGE_ROOT)[0]!, PACKAGE_ROOT);
}
