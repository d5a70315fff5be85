/**
 * Examines the connection to a server without using it: name resolution, open ports, the TLS certificate. Nothing
 * is trusted and nothing is sent, and every probe ends by itself. For diagnosis only.
 */
import type { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import * as tls from 'node:tls';
import { bareHost, FrontdoorError, messageOf } from '#base';
import { directDialer, type OutwardDialer } from './outward/outward-dialer.ts';
import { systemAnchors } from './trust-anchors.ts';
import { serverNameOf } from './server-name.ts';

export type PortProbe =
  | { readonly state: 'open'; readonly address: string }
  | { readonly state: 'refused' }
  | { readonly state: 'silent' }
  | { readonly state: 'failed'; readonly reason: string };

export interface TlsProbe {
  readonly leaf: X509Certificate;
  /** Whether the certificate is valid for the host. */
  readonly namesHost: boolean;
  /** The code of OpenSSL or Node for the problem of the chain or the name; undefined if it is trusted. */
  readonly problem: string | undefined;
}

/** Returns every address of a name. Rejects if it has none, or if the response does not arrive in time. */
export async function probeAddresses(host: string, timeoutMs: number): Promise<readonly string[]> {
  const name = bareHost(host);
  if (isIP(name) !== 0) return [name];
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no response in ${timeoutMs} ms`)), timeoutMs);
  try {
    return (await Promise.race([lookup(name, { all: true }), late])).map(({ address }) => address);
  } finally {
    clearTimeout(timer);
  }
}

export async function probePort(
  host: string,
  port: number,
  timeoutMs: number,
  outward = directDialer,
): Promise<PortProbe> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const socket = await outward.connect({ host: bareHost(host), port }, { signal });
    socket.destroy();
    return { state: 'open', address: socket.remoteAddress ?? '' };
  } catch (error) {
    if (signal.aborted) return { state: 'silent' };
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED') return { state: 'refused' };
    if (code === 'ETIMEDOUT') return { state: 'silent' };
    const reason = error instanceof FrontdoorError ? messageOf(error) : (code ?? messageOf(error));
    return { state: 'failed', reason };
  }
}

/** Rejects if no TLS server responds in time. `ca` (PEM) replaces the system's anchors. */
export async function probeTls(
  host: string,
  port: number,
  timeoutMs: number,
  { ca, outward = directDialer }: { readonly ca?: string | undefined; readonly outward?: OutwardDialer } = {},
): Promise<TlsProbe> {
  const name = bareHost(host);
  const signal = AbortSignal.timeout(timeoutMs);
  const tcp = await outward.connect({ host: name, port }, { signal }).catch((error: unknown) => {
    throw signal.aborted ? new Error(`no TLS response in ${timeoutMs} ms`) : error;
  });
  return examine(tcp, name, timeoutMs, ca);
}

function examine(tcp: Socket, name: string, timeoutMs: number, ca: string | undefined): Promise<TlsProbe> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      host: name,
      socket: tcp,
      ca: ca ?? systemAnchors(),
      servername: serverNameOf(name),
      // The certificate is only examined. Its problems are part of the result.
      rejectUnauthorized: false,
    });
    const fail = (why: string): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new Error(why));
    };
    const timer = setTimeout(() => fail(`no TLS response in ${timeoutMs} ms`), timeoutMs);
    socket.once('error', (error) => fail(messageOf(error)));
    socket.once('close', () => fail('the connection was closed before TLS began'));
    socket.once('secureConnect', () => {
      const leaf = socket.getPeerX509Certificate();
      if (leaf === undefined) return fail('the server sent no certificate');
      clearTimeout(timer);
      const namesHost = (isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name)) !== undefined;
      const { authorized, authorizationError } = socket;
      // The type is an error, but the value is its code.
      const problem = authorized ? undefined : String(authorizationError);
      resolve({ leaf, namesHost, problem });
      socket.destroy();
    });
  });
}
