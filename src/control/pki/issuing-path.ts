/**
 * Finds the authority of another party that vouches for a leaf, through the authorities below it whose certificates the peer
 * sent. An authority in between has to be one for clients, if it says for whom, within the path length of those above it. One
 * that limits names is not followed, because names are not compared with such limits.
 */
import type { X509Certificate } from 'node:crypto';
import { authorityLimitsOf } from './authority-limits.ts';
import { isForClients, isValidAt } from './third-party-certificate.ts';

const MAX_LINKS = 8;

/** A certificate of the path; `below` is the number of authorities between it and the leaf, itself included. */
interface Reached {
  readonly certificate: X509Certificate;
  readonly below: number;
}

export type IssuingPath = readonly Reached[];

/** Returns the leaf and the peer's certificates above it, nearest first. The dates of the leaf are not judged. */
export function pathAbove(
  leaf: X509Certificate,
  sent: readonly X509Certificate[],
  nowMs: number,
): IssuingPath {
  const path: Reached[] = [{ certificate: leaf, below: 0 }];
  if (leaf.ca) return [];
  // Each certificate is used once, so that cycles end.
  const unused = new Set(sent.filter((one) => isForClients(one) && !authorityLimitsOf(one).limitsNames));
  for (let below = 1; below <= MAX_LINKS && unused.size > 0; below += 1) {
    const last = path.filter((reached) => reached.below === below - 1);
    for (const link of unused) {
      if (!last.some((reached) => issues(link, reached, nowMs))) continue;
      unused.delete(link);
      path.push({ certificate: link, below });
    }
  }
  return path;
}

/** Whether the authority issued a certificate of the path. */
export function endsPath(path: IssuingPath, authority: X509Certificate, nowMs: number): boolean {
  return path.some((reached) => issues(authority, reached, nowMs));
}

/** Returns the first of the authorities that issued the lowest certificate of the path that any of them issued. */
export function nearestIssuer<T extends { readonly certificate: X509Certificate }>(
  path: IssuingPath,
  authorities: readonly T[],
  nowMs: number,
): T | undefined {
  for (const reached of path) {
    const found = authorities.find(({ certificate }) => issues(certificate, reached, nowMs));
    if (found !== undefined) return found;
  }
  return undefined;
}

function issues(issuer: X509Certificate, { certificate, below }: Reached, nowMs: number): boolean {
  if (!issuer.ca || !isValidAt(issuer, nowMs) || !certificate.checkIssued(issuer)) return false;
  if (below > (authorityLimitsOf(issuer).maxBelow ?? MAX_LINKS)) return false;
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // The key has a type that does not fit the signature.
    return false;
  }
}
