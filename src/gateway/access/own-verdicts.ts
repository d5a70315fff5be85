/**
 * Responses of the gateway to requests that it does not forward: challenges, and the header lines of all its own
 * responses.
 */
import { isLoopbackHost } from '#base';
import type { AccessReason, CallerIdentity } from '#domain/access';
import type { Failure } from '../answers/failure-table.ts';
import type { PageHelp, WantedCredential } from '../answers/page-help.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import type { AccessRefusal, AccessVerdict } from './access.ts';
import { failureOfAccess, withWayOut } from './access-failure-table.ts';
import type { HostGuard } from './host-guard.ts';
import { LOGOUT_PATH } from './login-pages.ts';

export function refusal(
  failure: Failure,
  lines: readonly string[] = [],
  identity?: CallerIdentity,
  help?: PageHelp,
): AccessRefusal {
  const more = help === undefined ? {} : { help };
  return { type: 'refuse', decision: failure.code, identity, failure, lines, ...more };
}

/** Refuses a request without a valid credential. The response lists the accepted credentials. */
export function unauthenticated(
  reason: AccessReason,
  host: GatewayHost,
  guard: HostGuard,
  wrong: 'credential' | 'basic' | undefined,
  lines: readonly string[],
): AccessRefusal {
  const help = { credentials: wantedCredentials(guard) };
  return refusal(failureOfAccess(reason), [...lines, ...challenges(host, guard, wrong)], undefined, help);
}

/** Refuses a known caller. A person who is logged in is offered to log out. */
export function notWanted(reason: AccessReason, identity: CallerIdentity): AccessRefusal {
  const failure = failureOfAccess(reason);
  if (identity.kind !== 'session') return refusal(failure, [], identity);
  return refusal(withWayOut(failure), [], identity, { logoutPath: LOGOUT_PATH });
}

/** Returns the credentials that would admit a caller. */
function wantedCredentials(guard: HostGuard): readonly WantedCredential[] {
  const keys = [...guard.headerKeys, ...guard.queryKeys].map(
    ({ placement, record, keyField }): WantedCredential => ({
      type: 'api-key',
      in: placement === 'query' ? 'query' : 'header',
      name: record.apiKeys?.name ?? keyField,
    }),
  );
  const takesBearer = guard.bearerKeys.length > 0 || guard.tokens.length > 0;
  return [
    ...(guard.logins.length > 0 ? [{ type: 'login' } as const] : []),
    ...keys,
    ...(takesBearer ? [{ type: 'bearer' } as const] : []),
    ...(guard.basicUsers.size > 0 ? [{ type: 'basic' } as const] : []),
  ];
}

/**
 * Returns the challenges of a 401, one line each: RFC 6750 and RFC 7617, and for API keys, which have no scheme
 * of their own, the place of the key. Where people log in, Basic is offered only to callers who tried it, because
 * browsers would open a password prompt for every script of a page whose session has ended.
 */
function challenges(
  { host }: GatewayHost,
  guard: HostGuard,
  wrong: 'credential' | 'basic' | undefined,
): readonly string[] {
  const lines: string[] = [];
  const wanted = wantedCredentials(guard);
  const basic = `WWW-Authenticate: Basic realm="${host}", charset="UTF-8"`;
  if (wrong === 'basic') lines.push(basic);
  const takesOnlyBasic =
    !guard.hasLogins && wanted.length > 0 && wanted.every(({ type }) => type === 'basic');
  const takesBearer = wanted.some(({ type }) => type === 'bearer');
  const keys = wanted.filter((each) => each.type === 'api-key');
  if (!takesOnlyBasic && (takesBearer || keys.length === 0)) {
    const error = wrong === 'credential' ? ', error="invalid_token"' : '';
    lines.push(`WWW-Authenticate: Bearer realm="${host}"${error}`);
  }
  for (const key of keys)
    lines.push(`WWW-Authenticate: ApiKey realm="${host}", in="${key.in}", name="${quotable(key.name)}"`);
  if (wrong !== 'basic' && guard.basicUsers.size > 0 && !guard.hasLogins) lines.push(basic);
  return lines;
}

/** Makes the name safe inside the quotes of a header value. */
function quotable(name: string): string {
  return encodeURIComponent(name);
}

const HSTS = 'Strict-Transport-Security: max-age=31536000';

/** Adds HSTS on TLS, except for names that mean the local machine. A policy about HSTS replaces it. */
export function withOwnLines(
  verdict: AccessVerdict,
  { host, route }: { readonly host: string; readonly route?: GatewayHost['route'] },
  client: ClientFacts,
): AccessVerdict {
  if (verdict.type === 'admit' || !client.isSecure || isLoopback(host)) return verdict;
  if (route !== undefined && route.rules.rules.hsts !== null) return verdict;
  if (verdict.type === 'refuse') return { ...verdict, lines: [...(verdict.lines ?? []), HSTS] };
  const { answer } = verdict;
  return { ...verdict, answer: { ...answer, lines: [...answer.lines, HSTS] } };
}

function isLoopback(host: string): boolean {
  return isLoopbackHost(host) || host.endsWith('.localhost');
}

export function retryAfter(ms: number): string {
  return `Retry-After: ${Math.max(1, Math.ceil(ms / 1_000))}`;
}
