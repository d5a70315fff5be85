/** The certificate of an HTTPS server before it is trusted. Enrollment uses it to verify a token. */
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import * as tls from 'node:tls';
import { bareHost, FrontdoorError, messageOf } from '#base';
import { directDialer, type OutwardDialer } from './outward/outward-dialer.ts';
import { serverNameOf } from './server-name.ts';

export interface ServedCertificateOptions {
  /** PEM. */
  readonly ca?: string | undefined;
  readonly outward?: OutwardDialer | undefined;
}

/**
 * Returns the leaf certificate of the server at `origin` (`https://host:port`). It must be valid for that host,
 * and chain to `ca` (PEM) if given. Nothing else is verified. Throws `unavailable`.
 */
export async function fetchServedCertificate(
  origin: string,
  timeoutMs: number,
  { ca, outward = directDialer }: ServedCertificateOptions = {},
): Promise<X509Certificate> {
  const url = new URL(origin);
  const host = bareHost(url.hostname);
  const deadlineMs = performance.now() + timeoutMs;
  const signal = AbortSignal.timeout(timeoutMs);
  const target = { host, port: Number(url.port || 443) };
  const tcp = await outward.connect(target, { signal }).catch((cause: unknown) => {
    const isProxy = cause instanceof FrontdoorError;
    const why = signal.aborted ? 'no response in time' : messageOf(cause);
    throw new FrontdoorError(
      isProxy ? cause.kind : 'unavailable',
      isProxy ? cause.code : 'unreachable',
      `${origin} cannot be reached: ${why}`,
      { cause },
    );
  });
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown): void => {
      clearTimeout(deadline);
      socket.destroy();
      const message = `${origin} cannot be reached: ${why}`;
      reject(new FrontdoorError('unavailable', 'unreachable', message, { cause }));
    };
    const socket = tls.connect({
      host,
      socket: tcp,
      servername: serverNameOf(host),
      ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
    });
    const deadline = setTimeout(
      () => fail('no response in time'),
      Math.max(1, deadlineMs - performance.now()),
    );
    socket.on('error', (error) => fail(messageOf(error), error));
    socket.once('secureConnect', () => {
      const leaf = socket.getPeerX509Certificate();
      if (leaf === undefined) return fail('it sent no certificate');
      const named = isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host);
      if (named === undefined) return fail(`its certificate is not for ${host}`);
      clearTimeout(deadline);
      socket.destroy();
      resolve(leaf);
    });
  });
}
