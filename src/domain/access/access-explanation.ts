/**
 * Explains the access decision about a request step by step, in the order of gateways and with the same
 * functions. Credentials are not checked: the question states what they would prove. Rate limits are reported but
 * not decided, because only gateways count requests.
 */
import { provesPeople, type AuthProviderType } from '../provider-types/provider-type-table.ts';
import { ACCESS_REASONS, type AccessReason } from './access-reason-table.ts';
import { OPEN_RULES } from './access-rules.ts';
import type { CallerIdentity } from './caller-identity.ts';
import {
  decideAddress,
  decideCertificate,
  decideClaims,
  decideEmail,
  decideProvability,
  decideTime,
  needsIdentity,
  pathKind,
  type CompiledRules,
} from './compiled-rules.ts';
import { isReserved, type PathKind } from './path-rules.ts';
import { namesOrigin } from './web-rules.ts';

/** A provider of the host, in the order in which the host lists them. */
export interface ExplainedProvider {
  readonly id: string;
  readonly name: string;
  readonly type: AuthProviderType;
  readonly enabled: boolean;
  /** Keys of an API_KEY provider. */
  readonly keys: readonly { readonly name: string; readonly expiresAtMs: number | null }[];
}

export interface ExplainedRequest {
  readonly host: string;
  readonly method: string;
  /** In origin form. */
  readonly target: string;
  /** In canonical form; undefined if no page, or one of the host itself, makes the request. */
  readonly origin: string | undefined;
  readonly isPreflight: boolean;
  /** Undefined if not given, so that rules on addresses are skipped. */
  readonly address: string | undefined;
  readonly isSecure: boolean;
  readonly nowMs: number;
  readonly providerId: string | undefined;
  /** The person that a log-in or token would prove; undefined: nobody. */
  readonly person: Pick<CallerIdentity, 'email' | 'groups' | 'claims'> | undefined;
  readonly keyName: string | undefined;
  readonly basicUser: string | undefined;
  readonly certificateName: string | undefined;
}

export interface ExplanationStep {
  readonly rule: string;
  /** `decided`: later rules are not evaluated. */
  readonly outcome: 'passed' | 'decided' | 'skipped';
  readonly detail: string;
}

export interface AccessExplanation {
  readonly decision: 'allow' | 'login' | 'unauthenticated' | 'refuse' | 'unavailable';
  /** Null if the service answers. */
  readonly status: number | null;
  readonly reason: string;
  readonly steps: readonly ExplanationStep[];
}

type Verdict = Pick<AccessExplanation, 'decision' | 'status' | 'reason'> & { readonly detail: string };

class Steps {
  readonly list: ExplanationStep[] = [];

  passed(rule: string, detail: string): void {
    this.list.push({ rule, outcome: 'passed', detail });
  }

  skipped(rule: string, detail: string): void {
    this.list.push({ rule, outcome: 'skipped', detail });
  }

  decided(rule: string, { detail, ...verdict }: Verdict): AccessExplanation {
    this.list.push({ rule, outcome: 'decided', detail });
    return { ...verdict, steps: this.list };
  }
}

export function explainAccess(
  rules: CompiledRules,
  providers: readonly ExplainedProvider[],
  request: ExplainedRequest,
): AccessExplanation {
  const steps = new Steps();
  const early = explainNetwork(rules, request, steps);
  if (early !== undefined) return early;
  const kind = pathKind(rules, request.target);
  if (kind === 'ambiguous')
    return steps.decided('path', refusal('path-ambiguous', 'it can be read in more than one way'));
  const preflight = explainPreflight(rules, request, steps);
  if (preflight !== undefined) return preflight;
  const ids = providers.map(({ id }) => id);
  if (kind === 'public') steps.passed('path', 'public: needs no identity');
  else steps.skipped('path', rules.rules.publicPaths.length === 0 ? 'no public paths' : 'not a public path');
  if (kind === 'public' || !needsIdentity(rules, ids)) {
    if (kind !== 'public')
      steps.skipped('identity', 'no auth provider and no basic user: every caller is admitted');
    const foreign = explainAmbientCertificate(rules, kind, request, steps);
    if (foreign !== undefined) return foreign;
    limit(rules, steps, 'the address');
    const unguarded = rules.rules === OPEN_RULES ? 'open' : 'network';
    return steps.decided('admission', allowed(kind === 'public' ? 'public-path' : unguarded));
  }
  if (providers.some(isLogin) && isReserved(request.target.split('?')[0]!)) {
    const detail = 'gateways answer this path themselves: sign-in and sign-out';
    return steps.decided('path', { ...allowed('own-path'), detail });
  }
  const { allowPreflights } = rules.rules;
  if (request.isPreflight && request.method === 'OPTIONS' && !isReserved(request.target.split('?')[0]!)) {
    if (allowPreflights) {
      steps.passed('preflight', 'CORS preflights need no identity here');
      limit(rules, steps, 'the address');
      return steps.decided('admission', allowed('preflight'));
    }
    steps.skipped('preflight', 'CORS preflights are not admitted: see allowPreflights');
  }
  const unprovable = decideProvability(rules, providers.some(isLogin));
  if (unprovable !== undefined) {
    const detail = 'rules about people (email, claims), and no auth provider here proves who a person is';
    return steps.decided('identity', refusal(unprovable, detail));
  }
  return explainIdentity(rules, providers, request, steps);
}

/** Gateways answer preflights themselves where the policy has CORS rules. */
function explainPreflight(
  { rules: { cors, allowPreflights } }: CompiledRules,
  { isPreflight, method, target, origin = '' }: ExplainedRequest,
  steps: Steps,
): AccessExplanation | undefined {
  if (cors === null || !isPreflight || method !== 'OPTIONS' || isReserved(target.split('?')[0]!))
    return undefined;
  if (namesOrigin(cors, origin)) {
    const detail = `the gateway answers CORS preflight requests of ${origin}`;
    return steps.decided('preflight', { decision: 'allow', status: 204, reason: 'cors-preflight', detail });
  }
  if (!allowPreflights)
    return steps.decided('preflight', refusal('other-origin', 'the CORS rules do not name the origin'));
  steps.skipped('preflight', 'the CORS rules do not name the origin');
  return undefined;
}

/** Browsers present a certificate by themselves, whichever page causes the request. */
function explainAmbientCertificate(
  rules: CompiledRules,
  kind: PathKind,
  request: ExplainedRequest,
  steps: Steps,
): AccessExplanation | undefined {
  if (kind === 'public' || !rules.needsCertificate) return undefined;
  return explainOrigin(rules, request, steps);
}

function explainNetwork(
  rules: CompiledRules,
  { nowMs, address, certificateName }: ExplainedRequest,
  steps: Steps,
): AccessExplanation | undefined {
  const { expiresAtMs, ip } = rules.rules;
  const time = decideTime(rules, nowMs);
  if (expiresAtMs === null) steps.skipped('time', 'no end');
  else if (time === undefined) steps.passed('time', `open until ${isoTime(expiresAtMs)}`);
  else return steps.decided('time', refusal(time, `expired at ${isoTime(expiresAtMs)}`));

  if (ip.allow.length + ip.deny.length === 0) steps.skipped('address', 'no rules on addresses');
  else if (address === undefined) steps.skipped('address', 'the question has no address');
  else {
    const reason = decideAddress(rules, address);
    const listed = reason === 'address-denied' ? 'is denied' : 'is not among those allowed';
    if (reason !== undefined) return steps.decided('address', refusal(reason, `${address} ${listed}`));
    steps.passed('address', `${address} is allowed`);
  }

  const { clientCertificate } = rules.rules;
  if (clientCertificate === null) {
    steps.skipped('certificate', 'none is required');
    return undefined;
  }
  const shown = certificateName === undefined ? undefined : { isTrusted: true, names: [certificateName] };
  const reason = decideCertificate(rules, shown);
  const detail = shown === undefined ? 'none is presented' : `${certificateName} is not an allowed name`;
  if (reason !== undefined) return steps.decided('certificate', refusal(reason, detail));
  steps.passed('certificate', `${certificateName} is allowed`);
  return undefined;
}

function explainIdentity(
  rules: CompiledRules,
  providers: readonly ExplainedProvider[],
  request: ExplainedRequest,
  steps: Steps,
): AccessExplanation {
  const { keyName, basicUser, person } = request;
  if (keyName !== undefined) return explainKey(rules, providers, request, steps);
  if (basicUser !== undefined) {
    if (!rules.rules.basicAuth.some(({ name }) => name === basicUser))
      return steps.decided('identity', wrong('credential-wrong', `no basic user is called ${basicUser}`));
    steps.passed('identity', `basic user ${basicUser}`);
    const foreign = explainOrigin(rules, request, steps);
    if (foreign !== undefined) return foreign;
    limit(rules, steps, 'the user');
    return steps.decided('admission', allowed(`basic ${basicUser}`));
  }
  if (person !== undefined) return explainPerson(rules, providers, request, person, steps);
  return steps.decided('identity', withoutCredential(rules, providers, request));
}

function explainKey(
  rules: CompiledRules,
  providers: readonly ExplainedProvider[],
  { providerId, keyName, nowMs }: ExplainedRequest,
  steps: Steps,
): AccessExplanation {
  const holders = providers.filter(
    ({ id, keys }) =>
      (providerId === undefined || id === providerId) && keys.some(({ name }) => name === keyName),
  );
  const holder = holders.find(({ enabled }) => enabled) ?? holders[0];
  if (holder === undefined)
    return steps.decided('identity', wrong('credential-wrong', `no provider here has a key ${keyName}`));
  if (!holder.enabled)
    return steps.decided('identity', wrong('provider-disabled', `the provider ${holder.name} is disabled`));
  const expiresAtMs = holder.keys.find(({ name }) => name === keyName)?.expiresAtMs ?? null;
  if (expiresAtMs !== null && nowMs >= expiresAtMs) {
    const detail = `the key ${keyName} expired at ${isoTime(expiresAtMs)}`;
    return steps.decided('identity', wrong('credential-wrong', detail));
  }
  steps.passed('identity', `key ${keyName} of ${holder.name}`);
  if (rules.hasIdentityRules) steps.skipped('person', 'email and claim rules do not apply to keys');
  limit(rules, steps, 'the key');
  return steps.decided('admission', allowed(`api-key ${keyName}`));
}

function explainPerson(
  rules: CompiledRules,
  providers: readonly ExplainedProvider[],
  request: ExplainedRequest,
  person: NonNullable<ExplainedRequest['person']>,
  steps: Steps,
): AccessExplanation {
  const { providerId } = request;
  const able = providers.filter(
    (provider) => isLogin(provider) && (providerId === undefined || provider.id === providerId),
  );
  const prover = able.find(({ enabled }) => enabled) ?? able[0];
  if (prover === undefined)
    return steps.decided('identity', wrong('credential-wrong', 'no provider here supports sign-ins'));
  if (!prover.enabled)
    return steps.decided('identity', wrong('provider-disabled', `the provider ${prover.name} is disabled`));
  steps.passed('identity', `signed in with ${prover.name}`);
  const { emails, claims } = rules.rules;
  const email = decideEmail(rules, person.email);
  if (emails.length === 0) steps.skipped('email', 'every address is allowed');
  else if (email === undefined) steps.passed('email', `${person.email} fits`);
  else {
    const detail = email === 'email-missing' ? 'no verified email' : `${person.email} matches no pattern`;
    return steps.decided('email', refusal(email, detail));
  }
  const claim = decideClaims(rules, person);
  if (claim !== undefined) {
    const failed = claims.find((rule) =>
      decideClaims({ ...rules, rules: { ...rules.rules, claims: [rule] } }, person),
    );
    return steps.decided('claims', refusal(claim, `${failed!.claim} is none of ${failed!.anyOf.join(', ')}`));
  }
  if (claims.length === 0) steps.skipped('claims', 'none are required');
  else steps.passed('claims', 'all hold');
  const foreign = explainOrigin(rules, request, steps);
  if (foreign !== undefined) return foreign;
  limit(rules, steps, 'the person');
  return steps.decided('admission', allowed('session'));
}

/** Pages of other origins may not change anything in the name of a person whom the browser identifies by itself. */
function explainOrigin(
  { actingOrigins }: CompiledRules,
  { method, origin, host, isSecure }: ExplainedRequest,
  steps: Steps,
): AccessExplanation | undefined {
  const own = `${isSecure ? 'https' : 'http'}://${host}`;
  // The port is the gateway's, which the question does not include.
  if (origin === undefined || origin === own || origin.startsWith(`${own}:`)) return undefined;
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') {
    steps.skipped('origin', `${method} changes nothing (but an upgrade would be refused)`);
    return undefined;
  }
  if (!actingOrigins.includes(origin))
    return steps.decided('origin', refusal('other-origin', `${origin} is not among the allowed origins`));
  steps.passed('origin', `${origin} is among the allowed origins`);
  return undefined;
}

/** Browsers are redirected to where they can log in; other callers get the accepted credentials. */
function withoutCredential(
  { rules }: CompiledRules,
  providers: readonly ExplainedProvider[],
  { method, isSecure, host }: ExplainedRequest,
): Verdict {
  const logins = providers.filter(isLogin);
  const isNavigation = method === 'GET' || method === 'HEAD';
  const isShut = rules.basicAuth.length === 0 && !providers.some(({ enabled }) => enabled);
  if (isShut && (logins.length === 0 || !isNavigation))
    return wrong('provider-disabled', 'every provider here is disabled');
  if (logins.length === 0 || !isNavigation) {
    const missing = logins.length === 0 ? 'no sign-in' : `${method} is not a navigation of a browser`;
    const basic = rules.basicAuth.length > 0 ? ' or HTTP Basic' : '';
    const how = providers.length === 0 ? 'HTTP Basic' : `a key or token${basic}`;
    return wrong('credential-missing', `no credential, ${missing}: ${how} is required`);
  }
  const enabled = logins.filter((provider) => provider.enabled);
  if (enabled.length === 0) {
    const detail = `every provider with sign-ins is disabled (other callers: 401)`;
    return { decision: 'unavailable', status: 503, reason: 'login-not-available', detail };
  }
  const others = 'other callers: 401';
  const detail = !isSecure
    ? `a browser is redirected to https://${host}, where it signs in (${others})`
    : enabled.length === 1
      ? `a browser signs in with ${enabled[0]!.name} (${others})`
      : `a browser chooses between ${enabled.map(({ name }) => name).join(', ')} (${others})`;
  return { decision: 'login', status: isSecure && enabled.length > 1 ? 200 : 302, reason: 'login', detail };
}

function isLogin({ type }: ExplainedProvider): boolean {
  return provesPeople(type);
}

function limit({ rules: { rateLimit } }: CompiledRules, steps: Steps, who: string): void {
  if (rateLimit === null) steps.skipped('rate', 'no limit');
  else
    steps.passed(
      'rate',
      `${rateLimit.requests} requests in ${rateLimit.perMs / 1_000} s, counted for ${who}; beyond that 429`,
    );
}

function allowed(reason: string): Verdict {
  return { decision: 'allow', status: null, reason, detail: 'forwarded to the service' };
}

function refusal(reason: AccessReason, detail: string): Verdict {
  return { decision: 'refuse', status: ACCESS_REASONS[reason].status, reason, detail };
}

function wrong(reason: AccessReason, detail: string): Verdict {
  return { decision: 'unauthenticated', status: ACCESS_REASONS[reason].status, reason, detail };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
