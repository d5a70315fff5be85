/** A recorded request as a command for `curl`, for a POSIX shell. Pure. */

interface RecordedRequest {
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** Undefined if it has none, or no text. */
  readonly bodyText: string | undefined;
}

/** curl sets them itself, or they belong to one connection. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'connection', 'transfer-encoding', 'keep-alive', 'te', 'trailer', 'upgrade'],
]);

/** Everything between single quotes is as it stands, apart from the quote itself. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll(`'`, `'\\''`)}'`;
}

/** Headers whose value was left out get a place to fill in. */
export function curlCommand({ method, host, target, headers, bodyText }: RecordedRequest): string {
  const parts = ['curl'];
  if (method !== 'GET') parts.push('-X', shellQuoted(method));
  for (const { name, value } of headers) {
    if (LEFT_OUT.has(name.toLowerCase())) continue;
    parts.push('-H', shellQuoted(`${name}: ${value === '' ? '…' : value}`));
  }
  if (bodyText !== undefined) parts.push('--data-binary', shellQuoted(bodyText));
  parts.push(shellQuoted(`https://${host}${target}`));
  return parts.join(' ');
}
