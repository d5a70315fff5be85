/**
 * What `npm run bench -- --scenario console` measures: the console in headless Chromium, its build, and its part in a start. What
 * open streams of tabs cost the control plane and the gateway is in `npm run bench:api`.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../../tools/pinned-process.ts';
import { browserSkip } from '../../support/browser.ts';
import { fillShares } from '../api/filled-shares.ts';
import type { BenchRun } from '../bench-run.ts';
import { startUp, type UpProduct } from '../product.ts';
import { measureBuild, measureStart } from './console-build.ts';
import { measureChanges } from './console-changes.ts';
import { CONSOLE } from './console-goal-table.ts';
import { measureMesh } from './console-mesh.ts';
import { measureFirstPage, measurePages } from './console-pages.ts';

const SHARES = 10_000;
/** The share of the demo. */
const SHARE = 'hello';
const FOLDER = 'console';
const IN_BROWSER: Readonly<Record<string, (run: BenchRun, product: UpProduct) => Promise<void>>> = {
  [CONSOLE.paint]: measureFirstPage,
  [CONSOLE.pages]: measurePages,
  [CONSOLE.changes]: measureChanges,
  [CONSOLE.mesh]: measureMesh,
};

export async function measureConsole(run: BenchRun): Promise<void> {
  if (!Object.values(CONSOLE).some((scenario) => run.wants(scenario))) return;
  // A control plane that finds it builds nothing.
  const program = join(repositoryRoot, 'src/control/console-app/build-program.ts');
  await promisify(execFile)(process.execPath, [program]);
  await measureBuild(run);
  await measureStart(run);
  const wanted = Object.entries(IN_BROWSER).filter(([name]) => run.wants(name));
  if (wanted.length === 0) return;
  if (browserSkip !== false) return run.skip('console in a browser', browserSkip);
  run.report(`starting the product with ${SHARES} shares`);
  const first = await startUp(run, FOLDER);
  await first.stop();
  fillShares(first, SHARE, SHARES);
  const product = run.keep(await startUp(run, FOLDER));
  for (const [name, measure] of wanted) {
    run.report(`measuring: ${name}`);
    await run.attempt(name, () => run.part(() => measure(run, product)));
  }
}
