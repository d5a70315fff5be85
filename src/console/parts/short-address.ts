/** An address as a table shows it: without what every address has. */

const DEFAULT_PORTS: Readonly<Record<string, string>> = { https: '443', http: '80' };
const ADDRESS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is;

/** `https://app.example.com:443/` becomes `app.example.com`. `http://` stays, because the address is not encrypted. */
export function shortAddress(address: string): string {
  const [, scheme, authority, rest] = ADDRESS.exec(address) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) return address;
  const port = DEFAULT_PORTS[scheme.toLowerCase()];
  const ending = `:${port}`;
  const host =
    port !== undefined && authority.endsWith(ending) ? authority.slice(0, -ending.length) : authority;
  return `${scheme.toLowerCase() === 'https' ? '' : `${scheme}://`}${host}${rest === '/' ? '' : rest}`;
}
