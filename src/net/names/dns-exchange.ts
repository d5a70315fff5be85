/** Sends one message to a DNS server over TCP and returns the response: two bytes with the length go before each. */
import type { Socket } from 'node:net';
import { FrontdoorError } from '#base';
import { directDialer } from '../outward/outward-dialer.ts';

export interface DnsExchangeOptions {
  /** From the look-up of the server's name to the end of the response. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Rejects with `server-silent`, or the error of the system. Proxies for HTTP do not lead to DNS servers, and are not used. */
export async function exchangeDns(
  message: Uint8Array,
  server: { readonly host: string; readonly port: number },
  { timeoutMs, signal: outer }: DnsExchangeOptions,
): Promise<Uint8Array> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(timeoutMs)]);
  let socket: Socket | undefined;
  const end = (): void => void socket?.destroy(new Error('no response in time'));
  try {
    socket = await directDialer.connect(server, { signal });
    signal.addEventListener('abort', end, { once: true });
    const head = Buffer.alloc(2);
    head.writeUInt16BE(message.length);
    socket.write(Buffer.concat([head, message]));
    return await responseOf(socket);
  } catch (cause) {
    outer.throwIfAborted();
    if (!signal.aborted) throw cause;
    const why = `no response within ${timeoutMs / 1_000} s`;
    throw new FrontdoorError('timeout', 'server-silent', why, { cause });
  } finally {
    signal.removeEventListener('abort', end);
    socket?.destroy();
  }
}

/** A response has at most 65,535 bytes, by its length. */
async function responseOf(socket: Socket): Promise<Uint8Array> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, chunk]);
    const end = bytes.length < 2 ? Infinity : 2 + bytes.readUInt16BE(0);
    if (bytes.length >= end) return bytes.subarray(2, end);
  }
  throw new Error('the server closed the connection without a response');
}
