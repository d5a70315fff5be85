/** What an HTTPS server shows of itself, before anybody trusts it: how enrollment finds the key to check a token with. */
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import * as tls from 'node:tls';
import { FrontdoorError, messageOf } from '#base';

/**
 * The leaf certificate that the server at `origin` (`https://host:port`) shows; it must be made out to that host, and
 * chain to `ca` (PEM) when that is given. Nothing else is verified. Throws `unavailable`.
 */
export function fetchServedCertificate(
  origin: string,
  timeoutMs: number,
  ca?: string,
): Promise<X509Certificate> {
  const url = new URL(origin);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown): void => {
      clearTimeout(deadline);
      socket.destroy();
      const message = `${origin} cannot be reached: ${why}`;
      reject(new FrontdoorError('unavailable', 'unreachable', message, { cause }));
    };
    const socket = tls.connect({
      host,
      port: Number(url.port || 443),
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
    });
    const deadline = setTimeout(() => fail('no answer in time'), timeoutMs);
    socket.on('error', (error) => fail(messageOf(error), error));
    socket.once('secureConnect', () => {
      const leaf = socket.getPeerX509Certificate();
      if (leaf === undefined) return fail('it shows no certificate');
      const named = isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host);
      if (named === undefined) return fail(`its certificate is not for ${host}`);
      clearTimeout(deadline);
      socket.destroy();
      resolve(leaf);
    });
  });
}
