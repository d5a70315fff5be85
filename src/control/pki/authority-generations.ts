/**
 * Every generation of the authorities as it is stored now (ADR 0062): those that are trusted, with the keys that still sign,
 * and the certificates of those that ended, so that a refusal can name the reason. Makes the first ones.
 */
import { X509Certificate } from 'node:crypto';
import type { Log } from '#base';
import type { AuthorityShelf } from './authority-store.ts';
import { readGenerations, seedOf } from './authority-rotation.ts';
import type { CertificateAuthority } from './certificate-authority.ts';
import { currentAuthority } from './current-authority.ts';
import {
  generationsAt,
  INTERMEDIATE,
  isTrusted,
  kindOf,
  ROOT,
  rotationAt,
  type Generation,
  type Generations,
  type Rotation,
} from './generation-policy.ts';

export interface LoadedGeneration extends Generation {
  readonly certificate: X509Certificate;
  readonly certificatePem: string;
  /** Undefined once the key was deleted. */
  readonly authority: CertificateAuthority | undefined;
}

export interface LoadedAuthorities extends Generations<LoadedGeneration> {
  readonly ended: readonly LoadedGeneration[];
  readonly rotation: Rotation<LoadedGeneration> | undefined;
  /** That of the newest root, also before it issues. */
  readonly newestRoot: LoadedGeneration;
  /** PEM: the issuing intermediate, the others, then the roots. */
  readonly bundle: readonly LoadedGeneration[];
}

/** Renews certificates of authorities that are due. Rejects if the stored authorities cannot be used. */
export async function loadAuthorities(
  shelf: AuthorityShelf,
  trustDomain: string,
  log: Log,
): Promise<LoadedAuthorities> {
  const { nowMs } = shelf;
  let generations = await readGenerations(shelf.db);
  if (generations.length < 2) {
    const seed = (name: string) => seedOf(name, trustDomain, nowMs);
    const root = await currentAuthority(shelf, ROOT, undefined, seed(ROOT), log);
    await currentAuthority(shelf, INTERMEDIATE, root, seed(INTERMEDIATE), log);
    generations = await readGenerations(shelf.db);
  }
  const loaded = new Map<string, LoadedGeneration>();
  // Roots first, because they sign.
  for (const one of generations.toSorted(
    (a, b) => Number(kindOf(b.name) === 'root') - Number(kindOf(a.name) === 'root'),
  )) {
    const parent = one.parent === undefined ? undefined : loaded.get(one.parent)?.authority;
    const canRenew =
      isTrusted(one, nowMs) && one.hasKey && (one.parent === undefined || parent !== undefined);
    const authority = canRenew
      ? await currentAuthority(shelf, one.name, parent, seedOf(one.name, trustDomain, nowMs), log)
      : undefined;
    const certificatePem = authority?.certificatePem ?? (await certificatePemOf(shelf, one.name));
    const certificate = authority?.certificate ?? new X509Certificate(certificatePem);
    loaded.set(one.name, { ...one, hasKey: authority !== undefined, certificate, certificatePem, authority });
  }
  const all = [...loaded.values()];
  const at = generationsAt(all, nowMs);
  const others = at.intermediates.filter((one) => one !== at.issuer);
  const own = at.roots.filter(({ name }) => name === at.issuer.parent);
  const roots = [...own, ...at.roots.filter((one) => !own.includes(one))];
  return {
    ...at,
    ended: all.filter((one) => !isTrusted(one, nowMs)),
    rotation: rotationAt(all, nowMs),
    newestRoot: at.roots.at(-1)!,
    bundle: [at.issuer, ...others, ...roots],
  };
}

async function certificatePemOf({ db }: AuthorityShelf, name: string): Promise<string> {
  const query = db.selectFrom('authority').select('certificate_pem').where('name', '=', name);
  return (await query.executeTakeFirstOrThrow()).certificate_pem;
}
