/** Dials a channel: TLS with the server's name checked against our CA, then the hello, all within one deadline. */
import * as net from 'node:net';
import * as tls from 'node:tls';
import { FrontdoorError, messageOf, type Log } from '#base';
import {
  CHANNEL_HEADERS,
  encodeFrame,
  FrameDecoder,
  HELLO_LIMITS,
  makeHello,
  REPLY_FOR,
  RESULT_TYPE,
  textOfBody,
  type Frame,
  type FrameHeaders,
} from '#wire';
import { Channel } from './channel.ts';
import type { HeartbeatOptions } from './channel-heartbeat.ts';
import { channelTls, type TlsIdentity } from './channel-tls.ts';
import { fingerprintOf, leafOf } from './peer-certificate.ts';
import { TlsDriver } from './tls-driver.ts';

export interface DialChannelOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsIdentity;
  readonly alpn: string;
  /** Body of the hello. */
  readonly helloId: string;
  readonly helloHeaders: FrameHeaders;
  /** Local address to dial from. */
  readonly localAddress?: string;
  readonly timeoutMs: number;
  readonly heartbeat?: HeartbeatOptions;
  readonly log: Log;
  readonly signal?: AbortSignal;
}

/** Rejects with a `FrontdoorError` (unavailable, forbidden, timeout) that names the address. */
export async function dialChannel(options: DialChannelOptions): Promise<Channel> {
  const { host, port, timeoutMs, signal } = options;
  const where = `${host}:${port}`;
  const socket = tls.connect({
    ...channelTls(options.tls),
    host,
    port,
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ...(options.localAddress === undefined ? {} : { localAddress: options.localAddress }),
    ALPNProtocols: [options.alpn],
  });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 15_000);
  const abort = (): void => void socket.destroy(new Error('given up'));
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => {
    socket.destroy(
      new FrontdoorError('timeout', 'channel-timeout', `no answer from ${where} within ${timeoutMs} ms`),
    );
  }, timeoutMs);
  const decoder = new FrameDecoder(HELLO_LIMITS);
  try {
    const answer = await exchangeHello(socket, decoder, options);
    const certificate = leafOf(socket);
    if (certificate === undefined) throw new Error('no server certificate');
    const driver = new TlsDriver();
    const peer = {
      id: answer.headers.text(CHANNEL_HEADERS.id) ?? '',
      hello: answer.headers,
      fingerprint: fingerprintOf(certificate),
      address: where,
    };
    const channel = new Channel(
      {
        id: answer.headers.text(CHANNEL_HEADERS.connectionId) ?? '',
        peer,
        log: options.log,
        ...(options.heartbeat === undefined ? {} : { heartbeat: options.heartbeat }),
      },
      driver,
    );
    driver.start(channel);
    driver.attach(socket, decoder, '');
    return channel;
  } catch (error) {
    socket.destroy();
    if (error instanceof FrontdoorError) throw error;
    throw new FrontdoorError('unavailable', 'channel-failed', `cannot reach ${where}: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function exchangeHello(
  socket: tls.TLSSocket,
  decoder: FrameDecoder,
  options: DialChannelOptions,
): Promise<Frame> {
  return new Promise((resolve, reject) => {
    const hello = makeHello(options.helloId, options.helloHeaders);
    const onClose = (): void => {
      reject(
        new FrontdoorError(
          'forbidden',
          'channel-refused',
          `${options.host}:${options.port} refused the channel`,
        ),
      );
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
      if (fault !== undefined) reject(new Error(`malformed answer to the hello (${fault})`));
    };
    socket.on('error', reject);
    socket.on('close', onClose);
    socket.on('data', onData);
    socket.once('secureConnect', () => socket.write(encodeFrame(hello)));
  });
}

function refusalOf(hello: Frame, answer: Frame): string | undefined {
  if (answer.contentType !== RESULT_TYPE || answer.headers.i32(REPLY_FOR) !== hello.sequence) {
    return 'the peer did not answer the hello';
  }
  if (answer.headers.bool(CHANNEL_HEADERS.resultSuccess)) return undefined;
  return textOfBody(answer) || 'refused';
}
