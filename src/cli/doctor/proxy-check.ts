/** Which servers are reached through a proxy, by the settings of this command. Agents have settings of their own. */
import { messageOf } from '#base';
import { proxyText, type OutwardDialer } from '#net';
import { failure, ok, type Check, type CheckResult } from './finding.ts';
import type { NetworkTarget } from './network-targets.ts';

export function proxyChecks(targets: readonly NetworkTarget[], outward: OutwardDialer): Check[] {
  return [{ name: 'proxies', run: () => Promise.resolve(proxyVerdict(targets, outward)) }];
}

/** Never with the user and the password of a proxy. */
export function proxyVerdict(targets: readonly NetworkTarget[], outward: OutwardDialer): CheckResult {
  const behind = new Map<string, string[]>();
  for (const target of targets) {
    try {
      const proxy = outward.proxyTo({ ...target, isPlain: !target.isTls });
      if (proxy === undefined) continue;
      const text = `${proxyText(proxy)} (${proxy.source})`;
      behind.set(text, [...(behind.get(text) ?? []), target.name]);
    } catch (error) {
      return failure(messageOf(error), 'correct the URL of the proxy, or use --proxy none');
    }
  }
  if (behind.size === 0) return ok('every server is reached directly');
  return ok([...behind].map(([proxy, names]) => `${proxy} leads to ${names.join(', ')}`).join('; '));
}
