/** A connection through a proxy: HTTP (CONNECT, as OpenZiti defines it), the same over TLS, or SOCKS 5. */
import type { Socket } from 'node:net';
import * as tls from 'node:tls';
import { formatHostPort, FrontdoorError, messageOf } from '#base';
import { systemAnchors } from '../trust-anchors.ts';
import type { ServerAddress } from './address-race.ts';
import { askHttpProxy } from './http-proxy.ts';
import { proxyText, type OutwardTarget, type ProxyServer } from './proxy-choice.ts';
import { ProxyExchange, ProxyRefusal } from './proxy-exchange.ts';
import { askSocksProxy } from './socks-proxy.ts';
import { serverNameOf } from '../server-name.ts';

export interface ProxyConnectOptions {
  /** Connects to the proxy. */
  readonly open: (signal: AbortSignal) => Promise<Socket>;
  /** Resolves the name of the server here, for proxies of the scheme `socks5`. */
  readonly resolve: (signal: AbortSignal) => Promise<readonly ServerAddress[]>;
  readonly signal: AbortSignal;
}

/** Time for a proxy to take the connection, and TLS with it; then for its answer, while it connects to the server. */
const REACH_MS = 5_000;
const ANSWER_MS = 8_000;

/**
 * Returns the connection to the server behind the proxy, paused. Rejects with `proxy-failed`, which names the step that
 * failed and no secret; an aborted signal ends the connection and rejects with its reason.
 */
export async function connectThroughProxy(
  proxy: ProxyServer,
  to: OutwardTarget,
  { open, resolve, signal }: ProxyConnectOptions,
): Promise<Socket> {
  const opened: Socket[] = [];
  try {
    const reached = await step(signal, REACH_MS, 'it did not take the connection', async (stop) => {
      const plain = await open(stop);
      opened.push(plain);
      const socket = proxy.scheme === 'https' ? await secured(plain, proxy.host, stop) : plain;
      opened.push(socket);
      return socket;
    });
    await step(signal, ANSWER_MS, 'it did not answer', async (stop) => {
      const exchange = new ProxyExchange(reached, stop);
      if (!proxy.scheme.startsWith('socks')) await askHttpProxy(exchange, proxy, to);
      else
        await askSocksProxy(exchange, proxy, proxy.scheme === 'socks5' ? await near(to, resolve, stop) : to);
      exchange.release();
    });
    return reached;
  } catch (error) {
    for (const socket of opened) socket.destroy();
    if (signal.aborted) throw signal.reason;
    const why = error instanceof ProxyRefusal ? error.message : `it cannot be reached: ${messageOf(error)}`;
    const message = `the proxy ${proxyText(proxy)} of ${proxy.source}: ${why}`;
    throw new FrontdoorError('unavailable', 'proxy-failed', message, { cause: error });
  }
}

async function step<T>(
  signal: AbortSignal,
  timeoutMs: number,
  late: string,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new ProxyRefusal(`${late} within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await work(AbortSignal.any([signal, limit.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** The scheme `socks5` names the address, `socks5h` the name of the server. */
async function near(
  to: OutwardTarget,
  resolve: ProxyConnectOptions['resolve'],
  signal: AbortSignal,
): Promise<OutwardTarget> {
  try {
    const [first] = await resolve(signal);
    return { host: first!.address, port: to.port };
  } catch (error) {
    signal.throwIfAborted();
    const why = `${to.host} cannot be resolved on this machine: ${messageOf(error)}; with socks5h:// the proxy resolves it`;
    throw new ProxyRefusal(why);
  }
}

function secured(socket: Socket, host: string, signal: AbortSignal): Promise<tls.TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<tls.TLSSocket>();
  const secure = tls.connect({
    socket,
    host,
    servername: serverNameOf(host),
    ca: systemAnchors(),
    ALPNProtocols: ['http/1.1'],
  });
  const onAbort = (): void => {
    secure.destroy();
    reject(signal.reason as Error);
  };
  const where = formatHostPort(host, socket.remotePort ?? 0);
  secure.on('error', (error) => reject(new Error(`TLS with ${where} failed: ${messageOf(error)}`)));
  secure.once('close', () => reject(new Error(`${where} closed the connection during TLS`)));
  secure.once('secureConnect', () => {
    signal.removeEventListener('abort', onAbort);
    resolve(secure);
  });
  signal.addEventListener('abort', onAbort, { once: true });
  return promise;
}
