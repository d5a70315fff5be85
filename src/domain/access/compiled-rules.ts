/**
 * Access rules in the form that is evaluated for every request: parsed once, so that a request costs a few
 * look-ups and no allocation. Rules that cannot be read admit nobody. `access-explanation.ts` has the order of
 * evaluation.
 */
import { isInNetwork, parseAddress, parseIpNetwork, type IpNetwork } from '../ip-network.ts';
import type { AccessReason } from './access-reason-table.ts';
import { OPEN_RULES, type AccessRules } from './access-rules.ts';
import type { CallerIdentity } from './caller-identity.ts';
import { CertificateNames, type CallerCertificate } from './certificate-names.ts';
import { holdsClaim } from './claim-reading.ts';
import { EmailPatterns } from './email-pattern.ts';
import { PathRules, type PathKind } from './path-rules.ts';
import { actingOrigins } from './web-rules.ts';

export interface CompiledRules {
  readonly rules: AccessRules;
  /** Origins whose pages may act for callers that browsers identify by themselves. */
  readonly actingOrigins: readonly string[];
  /** Whether answers get headers for browsers. */
  readonly hasAnswerHeaders: boolean;
  /** Whether `decideNetwork` needs the certificate. */
  readonly needsCertificate: boolean;
  /** Whether there are rules about people: on their e-mail addresses or claims. */
  readonly hasIdentityRules: boolean;
  readonly paths: PathRules;
  readonly deny: readonly IpNetwork[];
  /** Set if an entry cannot be read: everyone is denied. */
  readonly deniesAll: boolean;
  /** Undefined: everyone is allowed. */
  readonly allow: readonly IpNetwork[] | undefined;
  readonly emails: EmailPatterns | undefined;
  readonly certificateNames: CertificateNames | undefined;
}

export function compileRules(given: AccessRules | null): CompiledRules {
  const rules = given ?? OPEN_RULES;
  const { emails, claims, clientCertificate, ip, publicPaths } = rules;
  const deny = networksOf(ip.deny);
  return {
    rules,
    actingOrigins: actingOrigins(rules.allowedOrigins, rules.cors),
    hasAnswerHeaders: rules.cors !== null || rules.hsts !== null,
    needsCertificate: clientCertificate !== null,
    hasIdentityRules: emails.length > 0 || claims.length > 0,
    paths: new PathRules(publicPaths),
    deny,
    deniesAll: deny.length < ip.deny.length,
    allow: ip.allow.length === 0 ? undefined : networksOf(ip.allow),
    emails: emails.length === 0 ? undefined : new EmailPatterns(emails),
    certificateNames: clientCertificate === null ? undefined : new CertificateNames(clientCertificate),
  };
}

function networksOf(texts: readonly string[]): readonly IpNetwork[] {
  return texts.map(parseIpNetwork).filter((network) => network !== undefined);
}

export interface NetworkFacts {
  readonly nowMs: number;
  /** The client's address, as bytes if they are at hand. A text that is no address is in no network. */
  readonly address: Uint8Array | string;
  /** Undefined if none was presented. Read if `needsCertificate`. */
  readonly certificate: CallerCertificate | undefined;
}

/** Checks time, address and certificate. Returns undefined if they permit the request. */
export function decideNetwork(compiled: CompiledRules, facts: NetworkFacts): AccessReason | undefined {
  return (
    decideTime(compiled, facts.nowMs) ??
    decideAddress(compiled, facts.address) ??
    decideCertificate(compiled, facts.certificate)
  );
}

export function decideTime({ rules }: CompiledRules, nowMs: number): AccessReason | undefined {
  return rules.expiresAtMs !== null && nowMs >= rules.expiresAtMs ? 'access-expired' : undefined;
}

export function decideAddress(
  { deny, deniesAll, allow }: CompiledRules,
  address: Uint8Array | string,
): AccessReason | undefined {
  if (deniesAll) return 'address-denied';
  if (deny.length === 0 && allow === undefined) return undefined;
  const bytes = typeof address === 'string' ? parseAddress(withoutZone(address)) : address;
  if (bytes === undefined) return 'address-denied';
  for (const network of deny) if (isInNetwork(network, bytes)) return 'address-denied';
  if (allow === undefined) return undefined;
  for (const network of allow) if (isInNetwork(network, bytes)) return undefined;
  return 'address-not-allowed';
}

/** Removes the interface name that sockets add to a link-local address. */
function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}

export function decideCertificate(
  { certificateNames }: CompiledRules,
  certificate: CallerCertificate | undefined,
): AccessReason | undefined {
  if (certificateNames === undefined) return undefined;
  if (certificate === undefined) return 'certificate-missing';
  if (!certificate.isTrusted) return 'certificate-not-trusted';
  return certificateNames.fits(certificate.names) ? undefined : 'certificate-not-allowed';
}

/** `target` is a request's target as received. */
export function pathKind({ paths }: CompiledRules, target: string): PathKind {
  return paths.kind(target);
}

/** E-mail and claim rules apply to log-ins and tokens. Keys and basic users are named by the owner. */
export function decideIdentity(compiled: CompiledRules, identity: CallerIdentity): AccessReason | undefined {
  if (!compiled.hasIdentityRules || (identity.kind !== 'session' && identity.kind !== 'token'))
    return undefined;
  return decideEmail(compiled, identity.email) ?? decideClaims(compiled, identity);
}

export function decideEmail({ emails }: CompiledRules, email: string | null): AccessReason | undefined {
  if (emails === undefined) return undefined;
  if (email === null) return 'email-missing';
  return emails.fits(email) ? undefined : 'email-not-allowed';
}

export function decideClaims(
  { rules }: CompiledRules,
  identity: Pick<CallerIdentity, 'claims' | 'groups'>,
): AccessReason | undefined {
  for (const rule of rules.claims) if (!holdsClaim(identity, rule)) return 'claim-not-met';
  return undefined;
}

/** Whether callers must be identified at a host with these providers. */
export function needsIdentity(
  { rules, hasIdentityRules }: CompiledRules,
  authProviderIds: readonly string[],
): boolean {
  return authProviderIds.length > 0 || rules.basicAuth.length > 0 || hasIdentityRules;
}

/**
 * Rules about people admit nobody at a host where no provider can prove who a person is. Otherwise they would have no
 * effect there. `hasPeople`: whether a provider of the host proves people, enabled or not.
 */
export function decideProvability(
  { hasIdentityRules }: CompiledRules,
  hasPeople: boolean,
): AccessReason | undefined {
  return hasIdentityRules && !hasPeople ? 'person-unprovable' : undefined;
}
