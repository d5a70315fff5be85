/** `--proxy` of commands that connect to a control plane or a router. Every help text loads this module, so it stays small. */
import { Option } from 'commander';
import type { Secret } from '#base';
import { secretText } from './value-parser.ts';

export interface ProxyFlags {
  /** A URL, which may contain a password, or `none`. */
  readonly proxy?: Secret | undefined;
}

export function proxyOption(): Option {
  return new Option(
    '--proxy <url|none>',
    'proxy for all connections to servers of the frontdoor, instead of HTTPS_PROXY, HTTP_PROXY and ALL_PROXY; http, https, socks5 or socks5h; NO_PROXY still applies; ' +
      'set a password in the variable rather than here, because other users can see arguments; for example http://proxy.example:3128',
  ).argParser(secretText);
}
