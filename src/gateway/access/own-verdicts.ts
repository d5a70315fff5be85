/** What the gateway says when it does not pass a request on: challenges, and what all its own answers say. */
import { isLoopbackHost } from '#base';
import type { CallerIdentity } from '#domain';
import type { Failure } from '../answers/failure-table.ts';
import type { ClientFacts } from '../shares/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import type { Refusal, Verdict } from './access.ts';
import type { HostGuard } from './host-guard.ts';

export function refusal(failure: Failure, lines: readonly string[] = [], identity?: CallerIdentity): Refusal {
  return { type: 'refuse', decision: failure.code, identity, failure, lines };
}

/** What a caller could show: RFC 6750, or a name and password where there is nothing else. */
export function challenge(
  { host }: GatewayHost,
  guard: HostGuard,
  wrong: 'credential' | 'basic' | undefined,
): string {
  const takesOnlyBasic =
    guard.basicUsers.size > 0 && guard.keys.length === 0 && guard.tokens.length === 0 && !guard.hasLogins;
  if (wrong === 'basic' || takesOnlyBasic) return `WWW-Authenticate: Basic realm="${host}", charset="UTF-8"`;
  const error = wrong === 'credential' ? ', error="invalid_token"' : '';
  return `WWW-Authenticate: Bearer realm="${host}"${error}`;
}

const HSTS = 'Strict-Transport-Security: max-age=31536000';

/** On TLS browsers learn to stay there; not for names that mean this machine. */
export function withOwnLines(verdict: Verdict, host: string, client: ClientFacts): Verdict {
  if (verdict.type === 'admit' || !client.isSecure || isLoopback(host)) return verdict;
  if (verdict.type === 'refuse') return { ...verdict, lines: [...(verdict.lines ?? []), HSTS] };
  const { answer } = verdict;
  return { ...verdict, answer: { ...answer, lines: [...answer.lines, HSTS] } };
}

function isLoopback(host: string): boolean {
  return isLoopbackHost(host) || host.endsWith('.localhost');
}
