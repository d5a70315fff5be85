/**
 * Whether a hostname is a public suffix, below which unrelated organizations register names (`co.uk`,
 * `github.io`), so that it can belong to nobody. Both sections of the Public Suffix List count.
 */
import { invalidValue } from '#domain';

/** Throws `invalid` for a public suffix. */
export async function checkNoPublicSuffix(property: string, hostname: string): Promise<void> {
  // The list is large, and only needed when a custom frontend is created.
  const { getPublicSuffix } = await import('tldts');
  const name = hostname.toLowerCase();
  if (getPublicSuffix(name, { allowPrivateDomains: true, extractHostname: false }) !== name) return;
  throw invalidValue(property, `hostname below a public suffix, as example.${name}`);
}
