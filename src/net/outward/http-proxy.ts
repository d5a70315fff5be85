/** CONNECT of HTTP proxies with Basic credentials. Only 200 is a success, as for OpenZiti. */
import { formatHostPort } from '#base';
import type { OutwardTarget, ProxyServer } from './proxy-choice.ts';
import { ProxyRefusal, type ProxyExchange } from './proxy-exchange.ts';

const MAX_HEAD_BYTES = 8 * 1024;
const MAX_SHOWN_CHARS = 100;
const HEAD_END = '\r\n\r\n';

export async function askHttpProxy(
  exchange: ProxyExchange,
  proxy: Pick<ProxyServer, 'username' | 'password'>,
  to: OutwardTarget,
): Promise<void> {
  const target = formatHostPort(to.host, to.port);
  exchange.write(requestHead(proxy, target));
  const head = await exchange.read(MAX_HEAD_BYTES, (bytes) => {
    const end = bytes.indexOf(HEAD_END);
    return end < 0 || end > MAX_HEAD_BYTES ? undefined : end + HEAD_END.length;
  });
  const lines = head.toString('latin1').split('\r\n');
  const [statusLine = ''] = lines;
  if (/^HTTP\/1\.[01] 200(?: |$)/.test(statusLine)) return;
  throw new ProxyRefusal(
    `it answered ${JSON.stringify(statusLine.slice(0, MAX_SHOWN_CHARS))}${hintOf(lines, proxy, target)}`,
  );
}

function requestHead(
  { username, password }: Pick<ProxyServer, 'username' | 'password'>,
  target: string,
): string {
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, 'User-Agent: frontdoor'];
  if (username !== undefined || password !== undefined) {
    const credentials = Buffer.from(`${username ?? ''}:${password?.reveal() ?? ''}`).toString('base64');
    lines.push(`Proxy-Authorization: Basic ${credentials}`);
  }
  return lines.join('\r\n') + HEAD_END;
}

/** What an operator can do about the answer. Squid names its reason in a field. */
function hintOf(lines: readonly string[], proxy: Pick<ProxyServer, 'username'>, target: string): string {
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(lines[0] ?? '')?.[1];
  const reason = lines.map((line) => /^x-squid-error:\s*(\w+)/i.exec(line)?.[1]).find((found) => found);
  if (status === '407')
    return proxy.username === undefined
      ? ': it requires a user and a password, which belong into its URL'
      : ': it does not accept the user and the password';
  if (status === '403' || status === '405')
    return `: it does not allow connections to ${target}; many proxies allow port 443 only`;
  if (reason === 'ERR_CONNECT_FAIL') return `: it cannot connect to ${target}`;
  if (status !== undefined && status >= '500')
    return `: it cannot resolve the name of ${target}, or cannot connect to it`;
  return '';
}
