/**
 * The stored authority of a name with a certificate that is valid now. After two thirds of its life, and when it was made
 * while the clock was wrong, it gets another certificate for the same name and key: what it signed stays valid, and a peer
 * that trusts the former certificate finds the same key below it.
 */
import type { Log } from '#base';
import { keepAuthority, replaceCertificate, type AuthorityShelf } from './authority-store.ts';
import {
  authorityOf,
  makeAuthority,
  type CertificateAuthority,
  type RenewalSeed,
} from './certificate-authority.ts';

export async function currentAuthority(
  shelf: AuthorityShelf,
  name: string,
  parent: CertificateAuthority | undefined,
  seed: RenewalSeed,
  log: Log,
): Promise<CertificateAuthority> {
  const pair = await keepAuthority(shelf, name, () => makeAuthority({ ...seed, parent }));
  const kept = authorityOf(pair);
  if (!isDue(kept, parent, seed.nowMs)) return kept;
  const renewed = authorityOf(await replaceCertificate(shelf, name, pair, await kept.renewed(parent, seed)));
  const { validFrom, validTo } = kept.certificate;
  log.info(
    { authority: name, former: { validFrom, validTo }, until: renewed.certificate.validTo },
    'the authority has a new certificate for the same key',
  );
  return renewed;
}

function isDue(
  { certificate }: CertificateAuthority,
  parent: CertificateAuthority | undefined,
  nowMs: number,
): boolean {
  const fromMs = Date.parse(certificate.validFrom);
  const untilMs = Date.parse(certificate.validTo);
  // One that its parent outlives by little cannot live longer.
  const parentUntilMs = parent === undefined ? Infinity : Date.parse(parent.certificate.validTo);
  const isOld = nowMs > fromMs + ((untilMs - fromMs) * 2) / 3 && untilMs < parentUntilMs;
  return nowMs < fromMs || nowMs > untilMs || isOld;
}
