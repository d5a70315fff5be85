/**
 * Looks at the way to a server without using it: names, open ports, what TLS shows. Nothing is trusted and nothing is
 * sent; every look ends by itself. For diagnosis only.
 */
import type { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import * as tls from 'node:tls';
import { messageOf } from '#base';
import { systemAnchors } from './trust-anchors.ts';

export type PortProbe =
  | { readonly state: 'open'; readonly address: string }
  | { readonly state: 'refused' }
  | { readonly state: 'silent' }
  | { readonly state: 'failed'; readonly reason: string };

export interface TlsProbe {
  readonly leaf: X509Certificate;
  /** Whether the certificate is made out to the host. */
  readonly namesHost: boolean;
  /** OpenSSL's or Node's code of what is wrong with the chain or the name; undefined: it is trusted. */
  readonly problem: string | undefined;
}

/** Every address of a name. Rejects when it has none, or the answer does not come in time. */
export async function probeAddresses(host: string, timeoutMs: number): Promise<readonly string[]> {
  const name = bare(host);
  if (isIP(name) !== 0) return [name];
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
  try {
    return (await Promise.race([lookup(name, { all: true }), late])).map(({ address }) => address);
  } finally {
    clearTimeout(timer);
  }
}

export function probePort(host: string, port: number, timeoutMs: number): Promise<PortProbe> {
  return new Promise((resolve) => {
    const socket = connect({ host: bare(host), port });
    const done = (result: PortProbe): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => done({ state: 'silent' }), timeoutMs);
    socket.once('connect', () => done({ state: 'open', address: socket.remoteAddress ?? '' }));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const { code } = (error instanceof AggregateError ? error.errors[0] : error) as NodeJS.ErrnoException;
      if (code === 'ECONNREFUSED') done({ state: 'refused' });
      else if (code === 'ETIMEDOUT') done({ state: 'silent' });
      else done({ state: 'failed', reason: code ?? messageOf(error) });
    });
  });
}

/** Rejects when no TLS server answers there in time. `ca` (PEM) replaces the system's anchors. */
export function probeTls(host: string, port: number, timeoutMs: number, ca?: string): Promise<TlsProbe> {
  const name = bare(host);
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      host: name,
      port,
      ca: ca ?? systemAnchors(),
      ...(isIP(name) === 0 ? { servername: name } : {}),
      // It is looked at, not talked to: what is wrong with it is the result.
      rejectUnauthorized: false,
    });
    const fail = (why: string): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new Error(why));
    };
    const timer = setTimeout(() => fail(`no TLS answer in ${timeoutMs} ms`), timeoutMs);
    socket.once('error', (error) => fail(messageOf(error)));
    socket.once('close', () => fail('the connection was closed before TLS began'));
    socket.once('secureConnect', () => {
      const leaf = socket.getPeerX509Certificate();
      if (leaf === undefined) return fail('the server shows no certificate');
      clearTimeout(timer);
      const namesHost = (isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name)) !== undefined;
      const { authorized, authorizationError } = socket;
      // Typed as an error, but it is the code.
      const problem = authorized ? undefined : String(authorizationError);
      resolve({ leaf, namesHost, problem });
      socket.destroy();
    });
  });
}

/** An IPv6 literal without its brackets. */
function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
