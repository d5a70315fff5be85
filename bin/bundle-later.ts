/**
 * Has the program bundled for its next start, in a process of its own. Programs that end within a minute do not, and tests
 * neither.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { mayUseBundle, PACKAGE_ROOT } from './program-bundle.ts';

const PROGRAM = join(PACKAGE_ROOT, 'bin', 'bundle-program.ts');
const AFTER_MS = 60_000;
const BUNDLE_MS = 120_000;

/** For a program that runs from its sources. Nothing depends on the bundle, so what fails here is nobody's concern. */
export function bundleLater(): void {
  // A package has neither this program nor what it needs.
  if (!mayUseBundle() || !existsSync(PROGRAM)) return;
  const timer = setTimeout(() => {
    const child = spawn(process.execPath, [PROGRAM], {
      stdio: 'ignore',
      timeout: BUNDLE_MS,
      killSignal: 'SIGKILL',
    });
    child.on('error', () => {});
    child.unref();
  }, AFTER_MS);
  timer.unref();
}
