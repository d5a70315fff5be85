/**
 * Dials one connection of a channel: through a proxy if the dialer uses one, then TLS with verification of the
 * server's name against our anchors, then the hello; all within one deadline.
 */
import type { X509Certificate } from 'node:crypto';
import type * as net from 'node:net';
import * as tls from 'node:tls';
import { formatHostPort, FrontdoorError, messageOf } from '#base';
import {
  encodeFrame,
  FrameDecoder,
  HELLO_LIMITS,
  makeHello,
  REPLY_FOR,
  CHANNEL_HEADERS,
  RESULT_TYPE,
  textOfBody,
  type Frame,
  type FrameHeaders,
} from '#wire';
import { directDialer, type OutwardDialer } from '../outward/outward-dialer.ts';
import { channelTls, type TlsIdentity } from './channel-tls.ts';
import { leafOf } from './peer-certificate.ts';
import { serverNameOf } from '../server-name.ts';

export interface UnderlayDialOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsIdentity;
  readonly alpn: string;
  /** Body of the hello. */
  readonly helloId: string;
  /** Local address to dial from. */
  readonly localAddress?: string | undefined;
  /** By default the server is reached directly. */
  readonly outward?: OutwardDialer | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const KEEP_ALIVE_MS = 15_000;

export interface DialedUnderlay {
  readonly socket: tls.TLSSocket;
  /** May hold bytes that followed the response. */
  readonly decoder: FrameDecoder;
  readonly answer: Frame;
  readonly certificate: X509Certificate;
}

/** Resolves to whether a TLS handshake with the listener succeeds in time. Nothing is sent over the connection. */
export async function isUnderlayReachable(
  options: Omit<UnderlayDialOptions, 'helloId' | 'signal'> & { readonly signal: AbortSignal },
): Promise<boolean> {
  const stop = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]);
  const tcp = await tcpOf(options, stop).catch(() => undefined);
  if (tcp === undefined) return false;
  const socket = secure(options, tcp);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const onAbort = (): void => resolve(false);
  stop.addEventListener('abort', onAbort, { once: true });
  if (stop.aborted) onAbort();
  socket.once('secureConnect', () => resolve(true)).on('error', () => resolve(false));
  const isReachable = await promise;
  stop.removeEventListener('abort', onAbort);
  // The listener receives the end of the handshake, too, and has no reason to log a failed one.
  if (isReachable) socket.end().setTimeout(options.timeoutMs, () => socket.destroy());
  else socket.destroy();
  return isReachable;
}

/** Rejects with a `FrontdoorError` (unavailable, forbidden, timeout) that contains the address. */
export async function dialUnderlay(
  options: UnderlayDialOptions,
  helloHeaders: FrameHeaders,
): Promise<DialedUnderlay> {
  const { host, port, outward = directDialer, timeoutMs } = options;
  const where = formatHostPort(host, port);
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(new Error('given up'));
  const timer = setTimeout(() => {
    const message = `no response from ${where} within ${timeoutMs} ms`;
    stop.abort(new FrontdoorError('timeout', 'channel-timeout', message));
  }, timeoutMs);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  if (options.signal?.aborted === true) onAbort();
  let socket: tls.TLSSocket | undefined;
  let address: string | undefined;
  try {
    stop.signal.throwIfAborted();
    const tcp = await tcpOf(options, stop.signal);
    address = tcp.remoteAddress;
    socket = secure(options, tcp);
    const decoder = new FrameDecoder(HELLO_LIMITS);
    const answer = await exchangeHello(socket, decoder, makeHello(options.helloId, helloHeaders), {
      where,
      signal: stop.signal,
    });
    const certificate = leafOf(socket);
    if (certificate === undefined) throw new Error('no server certificate');
    return { socket, decoder, answer, certificate };
  } catch (error) {
    // A server that accepts connections and does nothing else may be one of several addresses.
    const isRefusal = error instanceof FrontdoorError && error.kind === 'forbidden';
    if (!isRefusal && options.signal?.aborted !== true) outward.failedAfterConnect(options, address);
    socket?.destroy();
    if (error instanceof FrontdoorError) throw error;
    throw new FrontdoorError('unavailable', 'channel-failed', `cannot reach ${where}: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
  }
}

function tcpOf(options: Omit<UnderlayDialOptions, 'helloId'>, signal: AbortSignal): Promise<net.Socket> {
  const { host, port, localAddress, outward = directDialer } = options;
  return outward.connect({ host, port }, { localAddress, signal });
}

function secure(
  { host, tls: identity, alpn }: Omit<UnderlayDialOptions, 'helloId'>,
  tcp: net.Socket,
): tls.TLSSocket {
  tcp.setNoDelay(true);
  tcp.setKeepAlive(true, KEEP_ALIVE_MS);
  return tls.connect({
    ...channelTls(identity),
    // Behind a proxy, too, the certificate is verified against the dialed name.
    host,
    servername: serverNameOf(host),
    socket: tcp,
    ALPNProtocols: [alpn],
  });
}

async function exchangeHello(
  socket: tls.TLSSocket,
  decoder: FrameDecoder,
  hello: Frame,
  { where, signal }: { readonly where: string; readonly signal: AbortSignal },
): Promise<Frame> {
  const { promise, resolve, reject } = Promise.withResolvers<Frame>();
  const onAbort = (): void => {
    reject(signal.reason as Error);
    socket.destroy();
  };
  const onClose = (): void => {
    reject(new FrontdoorError('forbidden', 'channel-refused', `${where} refused the channel`));
  };
  const onData = (chunk: Buffer): void => {
    const fault = decoder.push(chunk, (frame) => {
      socket.pause();
      socket.off('data', onData);
      socket.off('close', onClose);
      const refusal = refusalOf(hello, frame);
      if (refusal === undefined) resolve(frame);
      else reject(new FrontdoorError('forbidden', 'channel-refused', refusal));
      return false;
    });
    if (fault !== undefined) reject(new Error(`malformed response to the hello (${fault})`));
  };
  // Not removed, because an abandoned socket may still fail.
  socket.on('error', reject);
  socket.on('close', onClose);
  socket.on('data', onData);
  socket.once('secureConnect', () => socket.write(encodeFrame(hello)));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function refusalOf(hello: Frame, answer: Frame): string | undefined {
  if (answer.contentType !== RESULT_TYPE || answer.headers.i32(REPLY_FOR) !== hello.sequence) {
    return 'the peer did not respond to the hello';
  }
  if (answer.headers.bool(CHANNEL_HEADERS.resultSuccess)) return undefined;
  return textOfBody(answer) || 'refused';
}
