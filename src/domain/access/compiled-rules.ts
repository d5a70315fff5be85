/**
 * Access rules in the form that is asked about on every request: read once, so that a request costs a few look-ups and
 * no memory. What cannot be read lets nobody in. The order of the questions is `access-explanation.ts`.
 */
import { isInNetwork, parseAddress, parseIpNetwork, type IpNetwork } from '../ip-network.ts';
import type { AccessReason } from './access-reason-table.ts';
import { OPEN_RULES, type AccessRules } from './access-rules.ts';
import type { CallerIdentity } from './caller-identity.ts';
import { CertificateNames, type CallerCertificate } from './certificate-names.ts';
import { holdsClaim } from './claim-reading.ts';
import { EmailPatterns } from './email-pattern.ts';
import { PathRules, type PathKind } from './path-rules.ts';

export interface CompiledRules {
  readonly rules: AccessRules;
  /** `decideNetwork` looks at the certificate. */
  readonly needsCertificate: boolean;
  /** `decideIdentity` may refuse a log-in or token. */
  readonly hasIdentityRules: boolean;
  readonly paths: PathRules;
  readonly deny: readonly IpNetwork[];
  /** An entry that cannot be read: everybody is denied. */
  readonly deniesAll: boolean;
  /** Undefined: everybody. */
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
  /** Of the client; bytes where they are at hand. What is no address is in no network. */
  readonly address: Uint8Array | string;
  /** Undefined: none was shown. Looked at when `needsCertificate`. */
  readonly certificate: CallerCertificate | undefined;
}

/** Time, address, certificate; undefined: nothing against it. */
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

/** Sockets name the interface behind a link-local address. */
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

/** Of a request's target, as it came. */
export function pathKind({ paths }: CompiledRules, target: string): PathKind {
  return paths.kind(target);
}

/** Log-ins and tokens are held to e-mail and claim rules; keys and basic users are named by the owner already. */
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

/** Whether anybody must say who he is at a host with these providers. */
export function needsIdentity({ rules }: CompiledRules, authProviderIds: readonly string[]): boolean {
  return authProviderIds.length > 0 || rules.basicAuth.length > 0;
}
