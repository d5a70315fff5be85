/** The Host header of requests to a service: `preserve`, `target`, or a name with or without a port. */
import { schemeFacts } from '../backend-mode-table.ts';
import { parseShareTarget } from '../share-target.ts';

export const HOST_HEADER_RULE = 'preserve, target or a host name such as localhost:3000';

/** Returns the normalised setting, or undefined if the text is none. */
export function parseHostHeader(text: string): string | undefined {
  // The words have the form of a name, and the forms of a name are those of a target's host.
  const parsed = text.includes('/') ? undefined : parseShareTarget(`http://${text}`);
  if (parsed === undefined || !('scheme' in parsed)) return undefined;
  const { host, port } = parsed;
  return withoutPort(text) === text ? bracketed(host) : `${bracketed(host)}:${port}`;
}

/** An address of IPv6 stands in brackets. */
function withoutPort(authority: string): string {
  return authority.replace(/(?<=^[^:]*|\]):[0-9]+$/, '');
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** The host by which a service knows itself, as gateways use it. */
export interface ServiceHost {
  /** That of the target. */
  readonly scheme: 'http' | 'https';
  /** The Host header: lower case, with a port unless it is the usual one. */
  readonly authority: string;
  /** Further hosts in addresses that a service writes of itself. */
  readonly aliases: readonly string[];
}

/** Returns undefined if the client's host is kept, or the target has none. */
export function serviceHostOf(hostHeader: string, target: string): ServiceHost | undefined {
  const parsed = hostHeader === 'preserve' ? undefined : parseShareTarget(target);
  if (parsed === undefined || !('scheme' in parsed)) return undefined;
  const scheme = schemeFacts(parsed.scheme).isTls ? 'https' : 'http';
  const port = parsed.port === parsed.clientPort ? '' : `:${parsed.port}`;
  const own = bracketed(parsed.host) + port;
  if (hostHeader === 'target') return { scheme, authority: own, aliases: [] };
  // A service that listens on a port of its own adds it to the name that it was called by.
  const listening = withoutPort(hostHeader) + port;
  return {
    scheme,
    authority: hostHeader,
    aliases: [...new Set([own, listening])].filter((each) => each !== hostHeader),
  };
}
