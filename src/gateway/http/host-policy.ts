/**
 * The canonical form of a Host, an authority or a server name: lower case, no port, without the dot of a name's absolute form.
 * A value with user information, an empty label, a list or a character outside host names has no canonical form, so that no
 * two parts of the product can read it differently.
 */

/** 1: letter, digit, `-` or `_`; 2: `.`; 3: upper-case letter; 0: not part of a name. */
const CLASS = Uint8Array.from({ length: 256 }, (_, code) => {
  if (code >= 65 && code <= 90) return 3;
  if (code === 46) return 2;
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 45 || code === 95 ? 1 : 0;
});

const MAX_NAME = 253;
const MAX_LABEL = 63;
const IPV6_LITERAL = /^\[[0-9A-Fa-f:.]{2,45}\]$/;

/** Returns the canonical name of `value`, or undefined if it is malformed. IPv6 literals keep their brackets. */
export function canonicalHost(value: string): string | undefined {
  if (value.charCodeAt(0) === 91) return canonicalLiteral(value);
  let labelStart = 0;
  let upper = false;
  let i = 0;
  for (; i < value.length; i += 1) {
    const kind = CLASS[value.charCodeAt(i) & 0xff];
    if (kind === 0) break;
    if (kind === 2) {
      if (i === labelStart || i - labelStart > MAX_LABEL) return undefined;
      labelStart = i + 1;
    } else if (kind === 3) upper = true;
  }
  const end = i > 1 && i === labelStart ? i - 1 : i;
  if (end === labelStart || i - labelStart > MAX_LABEL || end > MAX_NAME) return undefined;
  if (i < value.length && !isPort(value, i)) return undefined;
  const name = end === value.length ? value : value.slice(0, end);
  return upper ? name.toLowerCase() : name;
}

function canonicalLiteral(value: string): string | undefined {
  const end = value.indexOf(']') + 1;
  const literal = value.slice(0, end);
  if (!IPV6_LITERAL.test(literal)) return undefined;
  return end === value.length || isPort(value, end) ? literal.toLowerCase() : undefined;
}

/** Whether `:` and a port number extend from `at` to the end. */
function isPort(value: string, at: number): boolean {
  if (value.charCodeAt(at) !== 58) return false;
  const digits = value.length - at - 1;
  if (digits < 1 || digits > 5) return false;
  let port = 0;
  for (let i = at + 1; i < value.length; i += 1) {
    const code = value.charCodeAt(i);
    if (code < 48 || code > 57) return false;
    port = port * 10 + code - 48;
  }
  return port > 0 && port <= 65_535;
}

/** Whether two authorities have the same name and port. A scheme's default port equals an absent one. */
export function sameAuthority(a: string, b: string, defaultPort: string): boolean {
  const nameA = canonicalHost(a);
  return (
    nameA !== undefined && nameA === canonicalHost(b) && portOf(a, defaultPort) === portOf(b, defaultPort)
  );
}

function portOf(authority: string, defaultPort: string): string {
  const port = /:(\d+)$/.exec(authority)?.[1] ?? '';
  return port === defaultPort ? '' : port;
}
