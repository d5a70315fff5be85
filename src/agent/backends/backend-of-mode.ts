/** What serves a target of each backend mode. */
import type { BackendMode } from '#domain';
import {
  changedTargetTimes,
  changedTargetTls,
  DEFAULT_TARGET_TIMES,
  DEFAULT_TARGET_TLS,
  type ShareUpstreamChange,
} from '#domain/upstream';
import type { AgentTarget } from '../target-address.ts';
import type { BackendOfTarget, BackendParts, JudgedBackend } from './backend.ts';
import { datagramBackend } from './datagram-backend.ts';
import { streamBackend } from './stream-backend.ts';
import { webBackend } from './web-backend.ts';

const BACKENDS: Readonly<Record<BackendMode, BackendOfTarget>> = {
  // A target of HTTP is a stream of bytes to an agent, too; `https` adds TLS.
  proxy: streamBackend,
  tcpTunnel: streamBackend,
  udpTunnel: datagramBackend,
  web: webBackend,
};

/** `upstream` are the settings of the share, of which absent ones have their defaults. */
export function backendOf(
  target: AgentTarget,
  isOwn: boolean,
  parts: BackendParts,
  upstream: ShareUpstreamChange = {},
): JudgedBackend {
  const tls = changedTargetTls(DEFAULT_TARGET_TLS, upstream);
  const times = changedTargetTimes(DEFAULT_TARGET_TIMES, upstream);
  return BACKENDS[target.mode](target, isOwn, parts, {
    tls,
    times,
    proxyProtocol: upstream.proxyProtocol ?? 'off',
  });
}
