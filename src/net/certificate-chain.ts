/**
 * Verifies that a peer's certificate chains to our trust anchors, with OpenZiti's rules: any certificate of the
 * bundle is an anchor, and clients may have any purpose, while Node's TLS requires a root and the client purpose.
 * Names, and constraints that authorities set for subordinate ones, are not checked here.
 */
import { X509Certificate } from 'node:crypto';
import { FrontdoorError, validityProblem, type Validity } from '#base';

const MAX_CHAIN_LENGTH = 8;
const MAX_PEER_CERTIFICATES = 16;
const PEM_BLOCK =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]+-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/**
 * `chain` has the peer's other certificates in any order, which are only used as links. `now` is in Unix ms.
 * Returns a text with the reason if the leaf is not trusted.
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
  // Each of the peer's certificates is used at most once, so that cycles end.
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
  return 'the certificate does not chain to a trusted authority';
}

/** The certificates that a peer sent after its leaf. */
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

/** Throws `invalid` if there is none. Blocks that cannot be read are skipped, as in OpenZiti. */
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

/** Whether a text holds certificates, each of which can be read. */
export function isCertificateList(pem: string): boolean {
  const blocks = pem.match(PEM_BLOCK) ?? [];
  try {
    return blocks.length > 0 && certificatesOfPem(pem).length === blocks.length;
  } catch {
    return false;
  }
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate, now: number): boolean {
  if (!issuer.ca || faultOfDates(issuer, now) !== undefined || !certificate.checkIssued(issuer)) return false;
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // The key has a type that does not fit the signature.
    return false;
  }
}

export function validityOf({ validFromDate, validToDate }: X509Certificate): Validity {
  return { fromMs: validFromDate.getTime(), untilMs: validToDate.getTime() };
}

function faultOfDates(certificate: X509Certificate, now: number): string | undefined {
  return validityProblem(validityOf(certificate), now);
}
