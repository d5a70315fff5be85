/**
 * Whether a peer's certificate leads to our trust anchors, judged by hand: OpenZiti takes any certificate of the
 * bundle as an anchor and any purpose from clients, where TLS in node insists on a root and on the client's purpose.
 * Names are not judged here, nor constraints that authorities set for authorities below them.
 */
import { X509Certificate } from 'node:crypto';
import { FrontdoorError } from '#base';

const MAX_CHAIN_LENGTH = 8;
const MAX_PEER_CERTIFICATES = 16;
const PEM_BLOCK =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]+-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/**
 * `chain`: what else the peer showed, in any order, trusted for nothing but being links. `now`: Unix ms. A text says
 * why the leaf is not to be believed.
 */
export function checkPeerChain(
  leaf: X509Certificate,
  chain: readonly X509Certificate[],
  caPem: string,
  now: number,
): string | undefined {
  const dateFault = faultOfDates(leaf, now);
  if (dateFault !== undefined) return `the certificate ${dateFault}`;
  const anchors = certificatesOfPem(caPem);
  if (anchors.some(({ raw }) => raw.equals(leaf.raw))) return undefined;
  // Each of the peer's certificates is looked at once, however they name each other.
  const unused = new Set(chain.slice(0, MAX_PEER_CERTIFICATES));
  let reached: readonly X509Certificate[] = [leaf];
  for (let length = 1; length < MAX_CHAIN_LENGTH && reached.length > 0; length += 1) {
    if (reached.some((certificate) => anchors.some((anchor) => isIssuedBy(certificate, anchor, now)))) {
      return undefined;
    }
    const next = [...unused].filter((link) => reached.some((below) => isIssuedBy(below, link, now)));
    for (const link of next) unused.delete(link);
    reached = next;
  }
  return 'the certificate leads to no authority of ours';
}

/** What a peer sent behind its leaf. */
export function issuersOf(leaf: X509Certificate): X509Certificate[] {
  const found: X509Certificate[] = [];
  let next = leaf.issuerCertificate;
  while (next !== undefined && found.length < MAX_PEER_CERTIFICATES) {
    found.push(next);
    const { issuerCertificate } = next;
    next = issuerCertificate === next ? undefined : issuerCertificate;
  }
  return found;
}

/** Throws `invalid` when there is none in it; blocks that cannot be read are left out, as in OpenZiti. */
export function certificatesOfPem(pem: string): X509Certificate[] {
  const found: X509Certificate[] = [];
  for (const [block] of pem.matchAll(PEM_BLOCK)) {
    try {
      found.push(new X509Certificate(block));
    } catch {
      continue;
    }
  }
  if (found.length === 0) throw new FrontdoorError('invalid', 'no-certificate', 'no certificate found');
  return found;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate, now: number): boolean {
  if (!issuer.ca || faultOfDates(issuer, now) !== undefined || !certificate.checkIssued(issuer)) return false;
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // A key of a kind that the signature cannot be checked with.
    return false;
  }
}

function faultOfDates(certificate: X509Certificate, now: number): string | undefined {
  if (now < certificate.validFromDate.getTime()) return 'is not valid yet';
  if (now > certificate.validToDate.getTime()) return 'has expired';
  return undefined;
}
