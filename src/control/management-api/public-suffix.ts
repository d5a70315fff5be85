/**
 * Whether a hostname is a public suffix: a name below which organizations that know nothing of each other register
 * theirs (`co.uk`, `github.io`), so that nobody has it for himself. Both sections of the Public Suffix List count.
 */
import { invalidValue } from '#domain';

/** Throws `invalid` for a public suffix. */
export async function checkNoPublicSuffix(property: string, hostname: string): Promise<void> {
  // It is large, and needed only when a custom frontend is created.
  const { getPublicSuffix } = await import('tldts');
  const name = hostname.toLowerCase();
  if (getPublicSuffix(name, { allowPrivateDomains: true, extractHostname: false }) !== name) return;
  throw invalidValue(property, `hostname below a public suffix, as example.${name}`);
}
