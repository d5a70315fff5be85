/** Options about proxies in front of a server. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseTrustedProxies } from '#domain/proxies';
import type { PassOptions } from './pass-options.ts';
import { commaList } from './value-parser.ts';

/** Ports whose connections begin with a PROXY header if they come from a trusted proxy. */
export const PROXY_PROTOCOL_PORTS = ['http', 'https', 'both'] as const;
export type ProxyProtocolPorts = (typeof PROXY_PROTOCOL_PORTS)[number];

export interface GatewayProxyOptions {
  readonly httpsRedirect?: 'on' | 'off';
  /** Addresses and networks, separated by commas. */
  readonly trustedProxies?: string;
  /** Only with trusted proxies. */
  readonly proxyProtocol?: ProxyProtocolPorts;
  readonly h2c?: boolean;
}

/** `servers`: what is behind the proxies. The value of the option is its checked text. */
export function trustedProxiesOption(servers: string): Option {
  return new Option(
    '--trusted-proxies <networks>',
    `addresses and networks of proxies in front of ${servers}, whose X-Forwarded-For names the client; for example 10.0.0.5,10.1.0.0/16`,
  ).argParser(
    commaList((text) => {
      if (parseTrustedProxies(text) !== undefined) return text;
      throw new InvalidArgumentError('must be addresses and networks, separated by commas');
    }),
  );
}

export function proxyProtocolOption(): Option {
  return new Option(
    '--proxy-protocol <ports>',
    'ports (http, https, both) at which every connection of a trusted proxy begins with a PROXY header, version 1 or 2; needs --trusted-proxies',
  ).choices(PROXY_PROTOCOL_PORTS);
}

export function h2cOption(): Option {
  return new Option(
    '--h2c',
    'accept HTTP/2 without TLS at the HTTP port, too, from clients that begin with it, such as a proxy in front of the gateway',
  ).default(false);
}

export function httpsRedirectOption(): Option {
  return new Option(
    '--https-redirect <on|off>',
    'whether requests over plain HTTP are redirected to HTTPS where a name has a certificate, unless the policy of the share says otherwise',
  )
    .choices(['on', 'off'])
    .default('on');
}

interface SharedPortOptions extends PassOptions {
  readonly onePort?: boolean;
}

/** Refuses a PROXY header that would be read from nobody. */
export function checkProxyOptions(
  command: Command,
  { trustedProxies, proxyProtocol, onePort = false, passTls }: GatewayProxyOptions & SharedPortOptions,
): void {
  if (proxyProtocol === undefined) return;
  const sharing = onePort ? '--one-port' : passTls === undefined ? undefined : '--pass-tls';
  if (sharing !== undefined && proxyProtocol !== 'http')
    command.error(
      `error: option '--proxy-protocol <ports>' cannot be https or both with '${sharing}': the shared port reads TLS first`,
    );
  if (trustedProxies !== undefined) return;
  command.error(
    "error: option '--proxy-protocol <ports>' needs '--trusted-proxies <networks>': PROXY headers are read from trusted proxies only",
  );
}
