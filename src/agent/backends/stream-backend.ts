/** A service that is reached over TCP, with or without TLS: the modes `proxy` and `tcpTunnel`. */
import type { BackendOfTarget } from './backend.ts';
import { connectTarget, wayTo, type TargetConnectOptions } from './target-connection.ts';
import { knownToStayOpen, type LookResult, type TargetHealth } from './target-health-machine.ts';

export const streamBackend: BackendOfTarget = (target, isOwn, parts) => {
  const way = wayTo(target, isOwn, parts);
  if ('problem' in way) return way;
  const { targetCa: ca, times } = parts;
  const checking = { ...way, timeoutMs: times.checkTimeoutMs, handshake: false };
  return {
    describe: () => ({ target: target.text, isOwn }),
    open: (...handlers) => connectTarget({ ...way, timeoutMs: times.connectTimeoutMs, ca }, ...handlers),
    health: (known, report) => check(checking, times.closeTimeoutMs, known, report),
  };
};

/** Connects, ends, and observes whether the service closes, too. */
function check(
  options: TargetConnectOptions,
  closeTimeoutMs: number,
  known: TargetHealth,
  report: (result: LookResult) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stop = connectTarget(
    options,
    (connection) => {
      stop = () => {
        clearTimeout(timer);
        connection.onClose = () => {};
        connection.abort();
      };
      if (knownToStayOpen(known)) {
        stop();
        report({ type: 'stayedOpen' });
        return;
      }
      timer = setTimeout(() => {
        stop();
        report({ type: 'stayedOpen' });
      }, closeTimeoutMs);
      // A reset is a reaction too, and a service that sends first is alive.
      connection.onClose = () => {
        clearTimeout(timer);
        report({ type: 'closed' });
      };
      connection.end();
    },
    ({ message }) => report({ type: 'failed', reason: message }),
  );
  return () => stop();
}
