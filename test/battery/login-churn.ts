/** Part of L5: people who log in, ask once and log out, thousands of them. Nothing of them is left at the parts. */
import { startIdentityWorld, type IdentityWorld } from '../support/identity-world.ts';
import { SESSION_COOKIE } from '../support/visitor.ts';
import type { BatteryRowContext, Tally } from './battery-row.ts';
import { restingMemory } from './memory-watch.ts';

const AT_ONCE = 8;
const PARTS = ['control', 'router', 'gateway', 'agent'] as const;

export interface LoginChurnLimits {
  readonly total: number;
  /** Beyond a tenth. */
  readonly slackBytes: number;
}

/** The product of the battery has no certificates of identity's zones: a world of its own. */
export async function churnLogins(
  tally: Tally,
  { note }: BatteryRowContext,
  { total, slackBytes }: LoginChurnLimits,
): Promise<void> {
  const world = await startIdentityWorld();
  try {
    const host = await world.share('churn', [await world.addProvider('OIDC', 'staff')]);
    const pids = PARTS.map((part) => world.parts[part].pid);
    const startedMs = performance.now();
    await logInAndOut(world, host, total / 10);
    const before = await restingMemory(pids);
    const seen = await logInAndOut(world, host, total);
    const tookMs = performance.now() - startedMs;
    tally.count(
      seen.good,
      total - seen.good,
      `log-ins and log-outs (${seen.problems.slice(0, 3).join('; ')})`,
    );
    const after = await restingMemory(pids);
    for (const [i, part] of PARTS.entries()) {
      tally.check(
        after[i]! <= before[i]! * 1.1 + slackBytes,
        `${part}: memory stays while people log in and out`,
        () => `${before[i]} before, ${after[i]} after`,
      );
    }
    note(
      `${total} log-ins, ${Math.round((total * 1_100) / tookMs)}/s; MiB before / after: ` +
        PARTS.map((part, i) => `${part} ${before[i]! >> 20} / ${after[i]! >> 20}`).join(', '),
    );
  } finally {
    await world.close();
  }
}

/** Each has its own address, and its session is refused once it is logged out. */
async function logInAndOut(
  world: IdentityWorld,
  host: string,
  total: number,
): Promise<{ readonly good: number; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  let [left, good] = [total, 0];
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const visitor = world.visitor();
      try {
        await visitor.logIn(host, '/', 'ann');
        const session = visitor.cookie(host) ?? '';
        const inside = await visitor.ask(host, '/', { navigates: false });
        const out = await visitor.ask(host, '/.frontdoor/logout', { method: 'POST' });
        visitor.setCookie(host, SESSION_COOKIE, session);
        const outside = await visitor.ask(host, '/', { navigates: false });
        const seen = [inside, out, outside].map(({ status }) => status).join(' ');
        if (seen === '200 200 401') good += 1;
        else problems.push(seen);
      } catch (error) {
        problems.push(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { good, problems };
}
