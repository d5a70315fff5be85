/** Loads the files that a router's `identity` section names: paths or inline PEM. */
import { readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { FrontdoorError, messageOf } from '#base';
import type { TlsIdentity } from '#net';
import type { RouterConfig } from './router-config.ts';

export interface RouterIdentity {
  /** Common name of the client certificate. */
  readonly id: string;
  readonly client: TlsIdentity;
  readonly server: TlsIdentity;
}

/** @throws FrontdoorError `invalid` that names the key of the section. */
export function loadRouterIdentity({ identity }: RouterConfig): RouterIdentity {
  const cert = loadPem('identity.cert', identity.cert);
  const key = loadPem('identity.key', identity.key);
  const ca = loadPem('identity.ca', identity.ca);
  const serverCert =
    identity.serverCert === undefined ? cert : loadPem('identity.server_cert', identity.serverCert);
  const serverKey =
    identity.serverKey === undefined ? key : loadPem('identity.server_key', identity.serverKey);
  let id: string | undefined;
  try {
    id = /^CN=(.+)$/m.exec(new X509Certificate(cert).subject)?.[1];
  } catch (cause) {
    throw new FrontdoorError(
      'invalid',
      'bad-identity',
      `identity.cert holds no certificate: ${messageOf(cause)}`,
      { cause },
    );
  }
  if (id === undefined)
    throw new FrontdoorError('invalid', 'bad-identity', 'identity.cert has no common name');
  return { id, client: { cert, key, ca }, server: { cert: serverCert, key: serverKey, ca } };
}

function loadPem(path: string, text: string): string {
  if (text.startsWith('pem:')) return text.slice('pem:'.length);
  if (text.trimStart().startsWith('-----BEGIN')) return text;
  try {
    return readFileSync(text, 'utf8');
  } catch (cause) {
    throw new FrontdoorError('invalid', 'bad-identity', `${path}: cannot read ${text}: ${messageOf(cause)}`, {
      cause,
    });
  }
}
