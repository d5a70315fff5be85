/** A service that is reached by datagrams: the mode `udpTunnel`. */
import type { BackendOfTarget } from './backend.ts';
import { connectDatagrams } from './datagram-target.ts';
import { failureOf, resolveTarget, wayTo } from './target-connection.ts';

export const datagramBackend: BackendOfTarget = (
  target,
  isOwn,
  parts,
  { times: { connectTimeoutSeconds }, proxyProtocol },
) => {
  const way = wayTo(target, isOwn, parts);
  if ('problem' in way) return way;
  if (proxyProtocol !== 'off') return { problem: 'proxyProtocol needs a target of connections' };
  const { datagrams: dialer } = parts;
  return {
    describe: () => ({ target: target.text, isOwn, connecting: `${connectTimeoutSeconds} s` }),
    open: (...handlers) =>
      connectDatagrams({ ...way, timeoutMs: connectTimeoutSeconds * 1_000, dialer }, ...handlers),
    // A datagram that asks nothing gets no answer, so that only the address is checked.
    health: (_known, report) => {
      let isCancelled = false;
      resolveTarget(way, (error) => {
        if (isCancelled) return;
        if (error === null) report({ type: 'passed' });
        else report({ type: 'failed', reason: failureOf(error, way.target, false).message });
      });
      return () => (isCancelled = true);
    },
  };
};
