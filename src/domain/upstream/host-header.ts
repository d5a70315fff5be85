/** The Host header of requests to a service: `preserve`, `target`, or a name with or without a port. */
import { parseShareTarget } from '../share-target.ts';

export const HOST_HEADER_RULE = 'preserve, target or a host name such as localhost:3000';

/** Returns the normalised setting, or undefined if the text is none. */
export function parseHostHeader(text: string): string | undefined {
  // The words have the form of a name, and the forms of a name are those of a target's host.
  const parsed = text.endsWith('/') ? undefined : parseShareTarget(`http://${text}`);
  if (parsed === undefined || !('scheme' in parsed)) return undefined;
  const { host, port } = parsed;
  return /[^:]:[0-9]+$/.test(text.replace(/^\[.*\]/, 'v6')) ? `${bracketed(host)}:${port}` : bracketed(host);
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** The host by which a service knows itself, as gateways send it. */
export interface ServiceHost {
  /** That of the target. */
  readonly scheme: 'http' | 'https';
  /** Lower case, with a port unless it is the usual one. */
  readonly authority: string;
}

/** Returns undefined if the client's host is kept, or the target has none. */
export function serviceHostOf(host: string, target: string): ServiceHost | undefined {
  const parsed = host === 'preserve' ? undefined : parseShareTarget(target);
  if (parsed === undefined || !('scheme' in parsed)) return undefined;
  const { clientPort, port, host: name } = parsed;
  const scheme = parsed.scheme === 'https' ? 'https' : 'http';
  if (host !== 'target') return { scheme, authority: host };
  return { scheme, authority: port === clientPort ? bracketed(name) : `${bracketed(name)}:${port}` };
}
