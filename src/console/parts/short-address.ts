/** An address as a table shows it: without what every address has. */

const DEFAULT_PORTS: Readonly<Record<string, string>> = { https: '443', http: '80' };
const ADDRESS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is;

/**
 * `https://app.example.com:443/` becomes `app.example.com`. `http://` stays, because the address is not encrypted. `usual`: the scheme
 * that is left out.
 */
export function shortAddress(address: string, usual: 'https' | 'http' = 'https'): string {
  const [, given, authority, rest] = ADDRESS.exec(address) ?? [];
  if (given === undefined || authority === undefined || rest === undefined) return address;
  const scheme = given.toLowerCase();
  const port = DEFAULT_PORTS[scheme];
  const ending = `:${port}`;
  const host =
    port !== undefined && authority.endsWith(ending) ? authority.slice(0, -ending.length) : authority;
  return `${scheme === usual ? '' : `${scheme}://`}${host}${rest === '/' ? '' : rest}`;
}
