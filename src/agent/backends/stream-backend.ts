/** A service that is reached over TCP, with or without TLS: the modes `proxy` and `tcpTunnel`. */
import { definedFields } from '#base';
import { TLS_CA_RULE } from '#domain/upstream';
import { isCertificateList } from '#net';
import type { BackendOfTarget } from './backend.ts';
import { connectTarget, TargetFailure, wayTo, type TargetConnectOptions } from './target-connection.ts';
import { knownToStayOpen, type LookResult, type TargetHealth } from './target-health-machine.ts';

export const streamBackend: BackendOfTarget = (
  target,
  isOwn,
  parts,
  { tls: verified, times: { connectTimeoutSeconds } },
) => {
  const way = wayTo(target, isOwn, parts);
  if ('problem' in way) return way;
  const { targetCa, targetClient, times } = parts;
  if (way.target.secure && verified.tlsCa !== null && !isCertificateList(verified.tlsCa))
    return { problem: `tlsCa of the share must be a ${TLS_CA_RULE}` };
  const tls = { ...verified, tlsCa: verified.tlsCa ?? targetCa ?? null };
  // A target that the Management API chose gets no proof of who this agent is.
  const connecting = { ...way, tls, client: isOwn ? targetClient : undefined };
  const checking = { ...connecting, timeoutMs: times.checkTimeoutMs };
  const description = definedFields({
    target: target.text,
    isOwn,
    tls: way.target.secure ? JSON.stringify(tls) : undefined,
    connecting: `${connectTimeoutSeconds} s`,
  });
  return {
    describe: () => description,
    open: (...handlers) =>
      connectTarget({ ...connecting, timeoutMs: connectTimeoutSeconds * 1_000 }, ...handlers),
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
      connection.onClose = (error) => {
        clearTimeout(timer);
        // In TLS 1.3 a service refuses the certificate of its client after the handshake.
        const isRefusal = error instanceof TargetFailure && error.code === 'tls';
        report(isRefusal ? { type: 'failed', reason: error.message } : { type: 'closed' });
      };
      connection.end();
    },
    ({ message }) => report({ type: 'failed', reason: message }),
  );
  return () => stop();
}
