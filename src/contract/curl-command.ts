/**
 * A recorded request as a command for `curl`, for a POSIX shell. It imports nothing, because the program of the console is built with
 * it, too.
 */

// The class that browsers and Node have, without the types of either.
declare const URL: {
  new (text: string): { readonly hostname: string; readonly origin: string };
  canParse(text: string): boolean;
};

export interface CurlRequest {
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** `binary`: it is no text, or not whole. */
  readonly body: { readonly text: string } | 'binary' | undefined;
}

/** It stands for what someone has to fill in. */
const PLACE = '…';

/** curl sets them itself, or they belong to one connection. */
const OF_CURL: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
]);

/** Everything between single quotes is as it stands, apart from the quote itself. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll(`'`, `'\\''`)}'`;
}

/**
 * A value that was left out, which has `leftOut` in its place, becomes one to fill in, and a body that is no text is read from a file. `addresses` are those of
 * the share: a recorded request has its host, but neither scheme nor port.
 */
export function curlCommand(
  { method, host, target, headers, body }: CurlRequest,
  addresses: readonly string[],
  leftOut: string,
): string {
  const quoted = (text: string): string => shellQuoted(text.replaceAll(leftOut, PLACE));
  const sent = body !== undefined && body !== 'binary' && body.text.includes('\0') ? 'binary' : body;
  // The address is used as it stands: without sets and ranges of addresses, and with its dots.
  const parts = ['curl', '--globoff', '--path-as-is'];
  // curl would wait for a body that an answer to HEAD never has.
  if (method === 'HEAD' && sent === undefined) parts.push('--head');
  else if (method !== (sent === undefined ? 'GET' : 'POST')) parts.push('-X', quoted(method));
  for (const { name, value } of headers) {
    if (OF_CURL.has(name.toLowerCase())) continue;
    // With a colon, curl would remove a header without a value.
    parts.push('-H', quoted(value === '' ? `${name};` : `${name}: ${value}`));
  }
  if (sent !== undefined) {
    // curl would add the type of a form.
    if (!headers.some(({ name }) => name.toLowerCase() === 'content-type'))
      parts.push('-H', `'Content-Type:'`);
    // Only the place to fill in names a file: a recorded body that begins with @ must not send one of this machine.
    if (sent === 'binary') parts.push('--data-binary', `'@${PLACE}'`);
    else parts.push('--data-raw', quoted(sent.text));
  }
  const isPath = target.startsWith('/');
  if (!isPath) parts.push('--request-target', quoted(target));
  parts.push(quoted(`${originOf(host, addresses)}${isPath ? target : '/'}`));
  return parts.join(' ');
}

function originOf(host: string, addresses: readonly string[]): string {
  const urls = addresses.filter((address) => URL.canParse(address)).map((address) => new URL(address));
  return urls.find(({ hostname }) => hostname === host)?.origin ?? `https://${host}`;
}
