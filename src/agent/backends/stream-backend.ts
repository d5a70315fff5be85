/** A service that is reached over TCP, with or without TLS: the modes `proxy` and `tcpTunnel`. */
import { definedFields } from '#base';
import { TLS_CA_RULE, type ProxyProtocolVersion } from '#domain/upstream';
import { encodeProxyHeader, isCertificateList } from '#net';
import type { BackendOfTarget, BackendParts } from './backend.ts';
import type { TargetClient } from './target-certificate.ts';
import { connectTarget, TargetFailure, wayTo, type TargetConnectOptions } from './target-connection.ts';
import { knownToStayOpen, type LookResult, type TargetHealth } from './target-health-machine.ts';

export const streamBackend: BackendOfTarget = (
  target,
  isOwn,
  parts,
  { tls: verified, times: { connectTimeoutSeconds }, proxyProtocol },
) => {
  const way = wayTo(target, isOwn, parts);
  if ('problem' in way) return way;
  const version = proxyProtocol === 'off' ? undefined : proxyProtocol;
  if (version !== undefined && way.target.secure)
    return { problem: `proxyProtocol needs a target without TLS, and ${target.text} has it` };
  const { targetCa, times } = parts;
  if (way.target.secure && verified.tlsCa !== null && !isCertificateList(verified.tlsCa))
    return { problem: `tlsCa of the share must be a ${TLS_CA_RULE}` };
  const tls = { ...verified, tlsCa: verified.tlsCa ?? targetCa ?? null };
  const client = clientFor(verified.tlsClient, isOwn, way.target.secure, parts);
  if (client !== undefined && 'problem' in client) return client;
  const connecting = { ...way, tls, client };
  const checking = { ...connecting, timeoutMs: times.checkTimeoutMs };
  const description = definedFields({
    target: target.text,
    isOwn,
    tls: way.target.secure ? JSON.stringify(tls) : undefined,
    proxyProtocol: version,
    connecting: `${connectTimeoutSeconds} s`,
  });
  return {
    describe: () => description,
    open: (...handlers) =>
      connectTarget({ ...connecting, timeoutMs: connectTimeoutSeconds * 1_000 }, ...handlers),
    health: (known, report) => check({ ...checking, version }, times.closeTimeoutMs, known, report),
  };
};

/** A target that the Management API chose gets no proof of who this agent is. */
function clientFor(
  name: string | null,
  isOwn: boolean,
  isSecure: boolean,
  { targetClients }: BackendParts,
): TargetClient | { readonly problem: string } | undefined {
  if (!isSecure) return undefined;
  const client = isOwn ? targetClients?.get(name ?? '') : undefined;
  if (client !== undefined || name === null) return client;
  return {
    problem: isOwn
      ? `this agent has no client certificate named ${name}: start it with --target-client-certificate ${name}=FILE and --target-client-key ${name}=FILE`
      : `the client certificate ${name} is not presented to a target that the Management API chose: share the target on the agent's machine`,
  };
}

/** Connects, ends, and observes whether the service closes, too. */
function check(
  options: TargetConnectOptions & { readonly version: ProxyProtocolVersion | undefined },
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
      if (options.version !== undefined) connection.write(encodeProxyHeader(options.version, undefined));
      connection.end();
    },
    ({ message }) => report({ type: 'failed', reason: message }),
  );
  return () => stop();
}
