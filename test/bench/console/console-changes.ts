/** When a change that the command line makes is on the screen of somebody else, without a reload. */
import { setTimeout as pause } from 'node:timers/promises';
import { runCommand } from '../../support/part-process.ts';
import { accountOf } from '../api/console-readers.ts';
import { FILLED_ENVIRONMENT } from '../api/filled-shares.ts';
import type { BenchRun } from '../bench-run.ts';
import { figureOf, percentile } from '../figure.ts';
import type { UpProduct } from '../product.ts';
import { CONSOLE, IN_TIME_COLUMN, SHOWN_ROW } from './console-goal-table.ts';
import { openScreen } from './console-screen.ts';

const CHANGES = 100;
const LIMIT_MS = 2_000;
const DEADLINE_MS = 60_000;
/** Between two changes. */
const PAUSE_MS = 50;
/** Nothing hosts it: a change concerns the control plane alone. */
const SHARE = 'changed';

export async function measureChanges(run: BenchRun, product: UpProduct): Promise<void> {
  await product.call('POST', '/shares', {
    ...{ environmentId: FILLED_ENVIRONMENT, name: SHARE, shareMode: 'public', backendMode: 'proxy' },
    target: 'http://127.0.0.1:9',
  });
  const screen = await openScreen(run, product);
  const { id, token } = accountOf(product);
  const env = {
    FRONTDOOR_API_URL: product.apiUrl,
    FRONTDOOR_ID: product.frontdoorId,
    FRONTDOOR_ACCOUNT_ID: id,
    FRONTDOOR_API_TOKEN: token,
  };
  const durationsMs: number[] = [];
  await screen.open(`/frontdoors/${product.frontdoorId}/shares?name=${SHARE}`);
  const count = run.options.isQuick ? CHANGES / 10 : CHANGES;
  for (let at = 0; at < count; at += 1) {
    const target = `http://127.0.0.1:${10_000 + at}`;
    const isShown = screen.page
      .getByText(target)
      .first()
      .waitFor({ timeout: DEADLINE_MS })
      .then(() => performance.now());
    await runCommand(['shares', 'change', SHARE, '--target', target], env);
    const changedMs = performance.now();
    // It may be on the screen before the command has ended.
    durationsMs.push(Math.max(0, (await isShown) - changedMs));
    await pause(PAUSE_MS);
  }
  const inTime = durationsMs.filter((ms) => ms <= LIMIT_MS).length;
  run.record(CONSOLE.changes, SHOWN_ROW, {
    [IN_TIME_COLUMN]: (inTime * CHANGES) / durationsMs.length,
    'after the end of the command, ms': figureOf(durationsMs).median,
    'p99, ms': percentile(
      durationsMs.toSorted((a, b) => a - b),
      0.99,
    ),
  });
}
