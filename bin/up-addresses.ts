/** Ports and URLs of `frontdoor up`, as its options imply them. */
import { formatHostPort, FrontdoorError } from '#base';
import type { AccessSettings } from './access-options.ts';
import type { PortChoice } from './port-memory.ts';
import type { SharedNames } from './shared-port.ts';

/** URLs leave it out. */
export const HTTPS_PORT = 443;

/** Tokens and identities name the port, so it has to be known before anything starts. */
export function onePortOf(ports: PortChoice): PortChoice {
  const { https } = ports;
  if (https !== 0) return { ...ports, edge: https, edgeApi: https };
  const message = '--one-port needs a port that stays the same: choose it with --https-port';
  throw new FrontdoorError('invalid', 'one-port-unknown', message);
}

/** The Management API is reached under its first name, at the port that is shared. */
export function publicApiUrlOf(names: SharedNames | undefined, port: number): AccessSettings['publicApiUrl'] {
  const name = names?.api[0];
  if (name === undefined) return undefined;
  return { url: new URL(`https://${formatHostPort(name, port)}`).origin, pathPrefix: '' };
}

export function secureUrl(host: string, port: number): string {
  return port === HTTPS_PORT ? `https://${host}` : `https://${host}:${port}`;
}
