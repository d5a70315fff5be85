/**
 * Hostnames and the Public Suffix List: suffixes, below which unrelated organizations register names (`co.uk`,
 * `github.io`), belong to nobody, and the domains that are registered below them are the ones that organizations own.
 * Both sections of the list count.
 */
import { invalidValue } from '#domain';

const RULES = { allowPrivateDomains: true, extractHostname: false } as const;

/** Throws `invalid` for a public suffix. */
export async function checkNoPublicSuffix(property: string, hostname: string): Promise<void> {
  // The list is large, and only custom frontends need it.
  const { getPublicSuffix } = await import('tldts');
  const name = hostname.toLowerCase();
  if (getPublicSuffix(name, RULES) !== name) return;
  throw invalidValue(property, `hostname below a public suffix, as example.${name}`);
}

/** The domain that was registered to have the hostname, which may be the hostname itself. */
export async function registrableDomain(hostname: string): Promise<string> {
  const { getDomain } = await import('tldts');
  return getDomain(hostname, RULES) ?? hostname;
}
