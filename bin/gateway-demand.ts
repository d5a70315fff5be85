/** Which certificates a gateway orders, in whose name, and which challenges it answers. */
import {
  CertificateDemand,
  challengeAnswers,
  SITE_SUFFIXES,
  type CertificateSource,
  type CertificateStore,
  type ChallengeAnswers,
  type Gateway,
  type GatewayAccess,
  type NameOwner,
} from '#gateway';

export interface AutomaticCertificates {
  /** It gives new certificates to the store. */
  readonly source: CertificateSource;
  /** The one of the account's key, which challenges need. */
  readonly thumbprint: string;
  /** Whether zones get wildcards through a DNS hook, so that only domains of shares need challenges. */
  readonly hasWildcards: boolean;
  /** Hosts that this process serves besides shares. */
  readonly ownHosts?: readonly string[] | undefined;
}

/** In whose name the certificate of a host of this process is ordered. It is single, also where zones have wildcards. */
function ownHostOwner(host: string): NameOwner {
  const domain = SITE_SUFFIXES.registrableDomain(host);
  return { organizationId: '', isCustom: false, isAlone: true, domain };
}

/** In whose name the certificate of a host is ordered; undefined for a host that is not served. */
export function nameOwner(
  table: Gateway['table'],
  loginHosts: GatewayAccess['loginHosts'],
  ownHosts: AutomaticCertificates['ownHosts'],
  host: string,
): NameOwner | undefined {
  if (ownHosts?.includes(host) === true) return ownHostOwner(host);
  const entry = table.find(host);
  const share = entry?.route.share;
  if (share === undefined && !loginHosts.has(host)) return undefined;
  const isAlone = table.organizationCount <= 1;
  if (entry?.isDomain === true) {
    const domain = SITE_SUFFIXES.registrableDomain(host);
    return { organizationId: share?.organizationId ?? '', isCustom: false, isAlone, domain };
  }
  const custom = loginHosts.ownerOf(host.slice(host.indexOf('.') + 1));
  return {
    organizationId: custom ?? share?.organizationId ?? '',
    isCustom: custom !== undefined,
    isAlone,
  };
}

/** With wildcards for zones, services behind their names can use HTTP-01 themselves. */
export function challengesOf(
  { thumbprint, hasWildcards }: AutomaticCertificates,
  ownerOf: (host: string) => NameOwner | undefined,
): ChallengeAnswers {
  return challengeAnswers(thumbprint, (host) => {
    const owner = ownerOf(host);
    return owner !== undefined && (!hasWildcards || owner.domain !== undefined);
  });
}

export function demandOf(
  secure:
    | { readonly certificates: CertificateStore; readonly automatic?: AutomaticCertificates | undefined }
    | undefined,
  ownerOf: (host: string) => NameOwner | undefined,
  zones: () => readonly string[],
): CertificateDemand | undefined {
  if (secure?.automatic === undefined) return undefined;
  const { certificates: store, automatic } = secure;
  const { source, hasWildcards, ownHosts } = automatic;
  return new CertificateDemand({ store, source, hasWildcards, ownerOf, zones, ownHosts });
}
