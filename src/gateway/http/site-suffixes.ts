/**
 * The zones in which browsers treat each share as a site of its own, because the zone is on the Public Suffix List. The list
 * is large, and loaded when an answer first depends on it: until then no zone counts as listed, which is the safe side.
 */
type SuffixOf = (name: string) => string | null;

export class SiteSuffixes {
  #suffixOf: SuffixOf | undefined;
  #loading: Promise<void> | undefined;

  /** Whether the name (canonical) is a site of its own, and shares it with no other share of its zone. */
  isOwnSite(host: string): boolean {
    this.#loading ??= this.#load();
    const zone = host.slice(host.indexOf('.') + 1);
    return this.#suffixOf !== undefined && this.#suffixOf(zone) === zone;
  }

  /** The domain that was registered to have the name (canonical), or the name itself while the list is not loaded. */
  registrableDomain(host: string): string {
    this.#loading ??= this.#load();
    const suffix = this.#suffixOf?.(host);
    if (suffix === undefined || suffix === null || suffix === host) return host;
    const labels = host.slice(0, -suffix.length - 1).split('.');
    return `${labels.at(-1)}.${suffix}`;
  }

  /** Resolves when the list can be used. Never rejects. */
  async loaded(): Promise<void> {
    await (this.#loading ??= this.#load());
  }

  async #load(): Promise<void> {
    try {
      const { getPublicSuffix } = await import('tldts');
      this.#suffixOf = (name) => getPublicSuffix(name, { allowPrivateDomains: true, extractHostname: false });
    } catch {
      // No zone counts as listed.
    }
  }
}

/** One list for all gateways of a process. */
export const SITE_SUFFIXES = new SiteSuffixes();
