/**
 * L5: shares made and released, agents that go and come back, people who log in and out. Nothing of them is left, in the
 * control plane's list or in an agent's, and memory stays.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSdkNetwork, startAgent } from '#agent';
import { silentLog } from '#base';
import { callAgent } from '#cli';
import { OverlayClient } from '#sdk';
import { until } from '../support/deadline.ts';
import type { BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { churnLogins } from './login-churn.ts';
import { MIB, openFiles, restingMemory } from './memory-watch.ts';
import { RawOrigin } from './raw-origin.ts';

const PARTS = ['control', 'router', 'gateway', 'agent'] as const;
/** The growth allowed beyond a tenth: uncollected garbage, which varies. */
const SLACK = 16 * MIB;
/** Programs start small and keep some garbage (ADR 0018), so memory is compared only after a warm-up of this size. */
const WARM_ROUNDS = 3_000;
const FILES_MORE = 5;
const SHARES_AT_ONCE = 8;

export const CHURN_ROW: BatteryRow = {
  id: 'L5',
  title: 'shares, agents and log-ins that come and go leave nothing behind',
  run: async (context, product) => {
    const tally = new Tally();
    const total = context.quick ? 20 : 1_000;
    const origin = await RawOrigin.start();
    try {
      const warm = context.quick ? total / 10 : WARM_ROUNDS;
      await churnShares(product, origin.port, warm, 'warm');
      await churnAgent(product, warm);
      const pids = PARTS.map((part) => product.parts[part].pid);
      const files = pids.map(openFiles);
      const before = await restingMemory(pids);
      const shares = await churnShares(product, origin.port, total, 'share');
      tally.count(shares, total - shares, 'shares made and released');
      const reconnects = await churnAgent(product, total);
      tally.count(reconnects, total - reconnects, 'agents that came back');
      const { value: left } = await until(
        'no share is left',
        async () => (await product.parts.call('GET', '/shares')).json as { totalElements: number },
        ({ totalElements }) => totalElements === 0,
      ).catch(() => ({ value: { totalElements: -1 } }));
      tally.check(left.totalElements === 0, 'the control plane lists no share', () => JSON.stringify(left));
      const status = await callAgent(product.parts.agentSocket, { op: 'status' });
      tally.check(status.shares.length === 0, 'the agent hosts no share');
      const after = await restingMemory(pids);
      for (const [i, part] of PARTS.entries()) {
        tally.check(
          after[i]! <= before[i]! * 1.1 + SLACK,
          `${part}: memory stays`,
          () => `${before[i]} before, ${after[i]} after`,
        );
        const now = openFiles(pids[i]!);
        tally.check(
          now <= files[i]! + FILES_MORE,
          `${part}: open files stay`,
          () => `${files[i]} before, ${now} after`,
        );
      }
      context.note(
        `${total} shares, ${total} agents; MiB before / after: ${PARTS.map((part, i) => `${part} ${Math.round(before[i]! / MIB)} / ${Math.round(after[i]! / MIB)}`).join(', ')}`,
      );
    } finally {
      await origin.close();
    }
    await churnLogins(tally, context, { total: context.quick ? 50 : 10_000, slackBytes: SLACK });
    return tally;
  },
};

/** Several at a time: an agent has many shares. */
async function churnShares(
  product: BatteryProduct,
  port: number,
  count: number,
  prefix: string,
): Promise<number> {
  const socket = product.parts.agentSocket;
  const target = `http://127.0.0.1:${port}`;
  let [next, good] = [0, 0];
  const work = async (): Promise<void> => {
    while (next < count) {
      const name = `${prefix}-${next}`;
      next += 1;
      await callAgent(socket, { op: 'share', mode: 'public', target, name, grants: [] });
      await callAgent(socket, { op: 'release', name });
      good += 1;
    }
  };
  await Promise.all(Array.from({ length: SHARES_AT_ONCE }, work));
  return good;
}

/** One enrolled agent that starts, is attached, and stops, again and again; in this process. */
async function churnAgent(product: BatteryProduct, count: number): Promise<number> {
  const { parts } = product;
  const { enrollmentCode } = (await parts.call('POST', '/agents/enrollments')).json as {
    enrollmentCode: string;
  };
  const dataDir = join(parts.folder, 'churned-agent');
  const ca = readFileSync(join(parts.folder, 'api-ca.pem'), 'utf8');
  let good = 0;
  for (let i = 0; i < count; i += 1) {
    const agent = await startAgent({
      dataDir,
      allowTargets: [],
      version: '0.0.0-test',
      log: silentLog,
      openNetwork: () =>
        openSdkNetwork({
          dataDir,
          apiUrl: parts.control.ready.apiUrl,
          ca,
          ...(i === 0 ? { enrollmentToken: enrollmentCode } : {}),
          name: 'churned',
          version: '0.0.0-test',
          log: silentLog,
          openHost: (api) => new OverlayClient({ api, log: silentLog, name: 'churned' }),
        }),
    });
    await agent.close();
    good += 1;
  }
  return good;
}
