/** The options of `frontdoor agent share` about who reaches a share, and where. */
import { Option, type Command } from 'commander';
import { INGRESS_KINDS, type IngressKind } from '#domain/backend-modes';
import { repeatedText, wholeNumber } from './value-parser.ts';

const MAX_PORT = 65_535;

export interface ReachFlags {
  readonly grant?: readonly string[];
  readonly domain?: readonly string[];
  readonly port?: number;
  readonly ingress?: IngressKind;
}

export function addReachOptions(command: Command, mode: 'public' | 'private'): void {
  if (mode === 'private') {
    command.option(
      '--grant <id|name>',
      'environment that can dial the share, by its ID or name in "frontdoor environments list"; may be repeated; ' +
        'for example laptop',
      repeatedText,
      [],
    );
  }
  if (mode === 'public') {
    command.option(
      '--domain <name>',
      'DNS name of yours at which the share is served, once a TXT record proves it; may be repeated; ' +
        'for example app.example.com',
      repeatedText,
      [],
    );
    command.option(
      '--port <port>',
      'port of the gateways for a tcp:// or udp:// target, among those of their --tcp-ports or --udp-ports, such as 20001; default: a free one, which the share keeps',
      wholeNumber(1, MAX_PORT),
    );
    command.addOption(
      new Option(
        '--ingress <kind>',
        'how clients reach a tcp:// target: at a port of its own (port), or under its names at the HTTPS port, where TLS ends at the gateway (tls) or at the service (tls-passthrough)',
      ).choices(INGRESS_KINDS),
    );
  }
}
