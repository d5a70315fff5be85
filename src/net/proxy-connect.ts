/**
 * A connection through an HTTP proxy (CONNECT), as OpenZiti defines it: Basic credentials, and only 200 is a
 * success.
 */
import * as net from 'node:net';
import { FrontdoorError, formatHostPort, type Secret } from '#base';

export interface HttpProxy {
  readonly host: string;
  readonly port: number;
  readonly username?: string | undefined;
  readonly password?: Secret | undefined;
}

const MAX_HEAD_BYTES = 8 * 1024;
const HEAD_END = '\r\n\r\n';

/**
 * Returns the connection to `host:port` behind the proxy, paused. The caller sets a deadline with `signal`.
 * Rejects with `unavailable`; an aborted signal ends the connection and rejects with its reason.
 */
export function connectThroughProxy(
  proxy: HttpProxy,
  to: { readonly host: string; readonly port: number },
  options: { readonly localAddress?: string | undefined; readonly signal: AbortSignal },
): Promise<net.Socket> {
  const { signal, localAddress } = options;
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>();
  const where = `proxy ${formatHostPort(proxy.host, proxy.port)}`;
  const socket = net.connect({
    host: proxy.host,
    port: proxy.port,
    localAddress,
  });
  const fail = (why: string, cause?: unknown): void => {
    done();
    socket.on('error', () => {});
    socket.destroy();
    reject(new FrontdoorError('unavailable', 'proxy-failed', `${where}: ${why}`, { cause }));
  };
  const onError = (error: Error): void => fail(error.message, error);
  const onClose = (): void => fail('closed the connection before it responded');
  const onAbort = (): void => {
    done();
    socket.destroy();
    reject(signal.reason as Error);
  };
  let head = '';
  const onData = (chunk: Buffer): void => {
    head += chunk.toString('latin1');
    const end = head.indexOf(HEAD_END);
    if (end < 0) {
      if (head.length > MAX_HEAD_BYTES) fail('its response is too long');
      return;
    }
    const [statusLine = ''] = head.slice(0, end).split('\r\n');
    if (!/^HTTP\/1\.[01] 200(?: |$)/.test(statusLine)) {
      fail(`answered ${JSON.stringify(statusLine.slice(0, 100))}`);
      return;
    }
    done();
    socket.pause();
    const rest = head.slice(end + HEAD_END.length);
    if (rest !== '') socket.unshift(Buffer.from(rest, 'latin1'));
    resolve(socket);
  };
  const done = (): void => {
    socket.off('data', onData);
    socket.off('error', onError);
    socket.off('close', onClose);
    signal.removeEventListener('abort', onAbort);
  };
  socket.on('error', onError);
  socket.on('close', onClose);
  socket.on('data', onData);
  signal.addEventListener('abort', onAbort, { once: true });
  socket.once('connect', () => socket.write(requestHead(proxy, formatHostPort(to.host, to.port))));
  if (signal.aborted) onAbort();
  return promise;
}

function requestHead({ username, password }: HttpProxy, target: string): string {
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, 'User-Agent: frontdoor'];
  if (username !== undefined || password !== undefined) {
    const credentials = Buffer.from(`${username ?? ''}:${password?.reveal() ?? ''}`).toString('base64');
    lines.push(`Proxy-Authorization: Basic ${credentials}`);
  }
  return lines.join('\r\n') + HEAD_END;
}
