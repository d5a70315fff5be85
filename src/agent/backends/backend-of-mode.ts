/** What serves a target of each backend mode. */
import type { BackendMode } from '#domain';
import { DEFAULT_TARGET_TLS, type TargetTls } from '#domain/upstream';
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

export function backendOf(
  target: AgentTarget,
  isOwn: boolean,
  parts: BackendParts,
  tls: TargetTls = DEFAULT_TARGET_TLS,
): JudgedBackend {
  return BACKENDS[target.mode](target, isOwn, parts, tls);
}
