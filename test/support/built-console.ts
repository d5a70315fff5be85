/** The built console, where control planes that run from the sources look for it. */
import { buildInto } from '../../src/control/console/app/build-into.ts';
import { bundleStylePage } from '../../src/control/console/app/console-bundle.ts';
import { builtFolders, PACKAGE_ROOT } from '../../src/control/console/app/console-source.ts';

/** Builds it unless it is there. Call it before a control plane that shall have it starts. */
export async function buildConsoleNow(): Promise<void> {
  await buildInto(builtFolders(PACKAGE_ROOT)[0]!, PACKAGE_ROOT);
}

/** The style page as one document (ADR 0110). */
export const stylePage = (): Promise<string> => bundleStylePage(PACKAGE_ROOT);
