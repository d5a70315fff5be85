/** Options of `agent share` for how requests reach the service, and the settings that they give. */
import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { definedFields, FrontdoorError, messageOf } from '#base';
import {
  parseHeaderRule,
  parseRoute,
  parseTlsCa,
  TLS_CA_RULE,
  type HeaderRule,
  type ProxyProtocol,
  type ShareRouteSetting,
  type ShareUpstreamChange,
} from '#domain/upstream';
import { secondsOf } from './seconds-option.ts';

export interface UpstreamFlags {
  readonly hostHeader?: string;
  readonly lenient?: boolean;
  readonly route?: readonly ShareRouteSetting[];
  readonly requestHeader?: readonly HeaderRule[];
  readonly responseHeader?: readonly HeaderRule[];
  readonly connectTimeout?: number;
  readonly idleTimeout?: number;
  readonly proxyProtocol?: ProxyProtocol;
  readonly targetPin?: string;
  /** Path of a file. */
  readonly targetCa?: string;
  readonly targetServerName?: string;
  readonly targetInsecure?: boolean;
}

/** Gateways alone write the heads of requests, so that a private share has no options for them. */
export function addUpstreamOptions(command: Command, mode: 'public' | 'private'): Command {
  if (mode === 'public') addHeadOptions(command);
  return command
    .addOption(
      new Option(
        '--connect-timeout <time>',
        'time limit for connecting to the service, at most 5s, the default; for example 2s',
      ).argParser(secondsOf),
    )
    .addOption(
      new Option(
        '--target-pin <fingerprint>',
        'SHA-256 fingerprint of the certificate that an https target must present, instead of verifying it by authority and name; "frontdoor agent certificate" shows it; for example 5f6a…',
      ).conflicts(['targetCa', 'targetInsecure']),
    )
    .addOption(
      new Option(
        '--target-ca <file>',
        'CA certificates (PEM) to verify an https target with, for this share; for example ca.pem',
      ).conflicts('targetInsecure'),
    )
    .addOption(
      new Option(
        '--target-server-name <name>',
        'name in the certificate of an https target, if it is not the host of the target; for example pve.example.com',
      ),
    )
    .addOption(
      new Option(
        '--target-insecure',
        'accept any certificate of an https target; anybody between agent and service can then read and change everything',
      ),
    );
}

function addHeadOptions(command: Command): void {
  command
    .addOption(
      new Option(
        '--route <path=target>',
        'another target of this agent for a path and everything below it; strip:path=target sends requests without the path; may be repeated, and replaces the former list; for example /api=http://127.0.0.1:4000',
      ).argParser(collectRoutes),
    )
    .addOption(
      new Option(
        '--host-header <host>',
        'Host header of requests to the service: preserve, target (the host of the target), or a name; ' +
          'default for a new share: preserve; for example localhost',
      ),
    )
    .addOption(
      new Option(
        '--lenient',
        'accept responses in obsolete forms, as old devices send them; the gateway corrects them. "frontdoor shares upstream change" ends this',
      ),
    )
    .addOption(
      new Option(
        '--request-header <name:value>',
        'header to set in requests to the service; +name:value adds a line, -name removes all; may be repeated, and replaces the former list; for example X-Tenant:blue',
      ).argParser(collectRules),
    )
    .addOption(
      new Option(
        '--response-header <name:value>',
        'the same for responses to clients; for example --response-header=-Server',
      ).argParser(collectRules),
    )
    .addOption(
      new Option(
        '--proxy-protocol <version>',
        'version of the PROXY header that names the client of each connection to the service, which must expect it; default for a new share: off; for example v2',
      ).choices(['off', 'v1', 'v2']),
    )
    .addOption(
      new Option(
        '--idle-timeout <time>',
        'how long a response or an upgraded connection may continue without a byte, at most 24h; default for a new share: 1h; for example 10m',
      ).argParser(secondsOf),
    );
}

function collectRules(text: string, before: readonly HeaderRule[] = []): readonly HeaderRule[] {
  const rule = parseHeaderRule(text);
  if (rule === undefined)
    throw new InvalidArgumentError('must be like X-Tenant:blue, +X-Tenant:blue or -Server.');
  return [...before, rule];
}

function collectRoutes(
  text: string,
  before: readonly ShareRouteSetting[] = [],
): readonly ShareRouteSetting[] {
  const route = parseRoute(text);
  if (route === undefined)
    throw new InvalidArgumentError(
      'must be like /api=http://127.0.0.1:4000 or strip:/api=http://127.0.0.1:4000.',
    );
  return [...before, route];
}

/** Undefined if no option was given. */
export async function upstreamOf(flags: UpstreamFlags): Promise<ShareUpstreamChange | undefined> {
  const { hostHeader, lenient, proxyProtocol, route: routes, targetServerName: tlsServerName } = flags;
  const { requestHeader: requestHeaders, responseHeader: responseHeaders } = flags;
  const { connectTimeout: connectTimeoutSeconds, idleTimeout: idleTimeoutSeconds } = flags;
  const change = {
    ...definedFields({
      hostHeader,
      lenient,
      proxyProtocol,
      routes,
      requestHeaders,
      responseHeaders,
      connectTimeoutSeconds,
      idleTimeoutSeconds,
      tlsServerName,
    }),
    ...(await verificationOf(flags)),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

/** Each of the three replaces the others, so that the last command decides. */
async function verificationOf(flags: UpstreamFlags): Promise<ShareUpstreamChange> {
  const { targetPin, targetCa, targetInsecure } = flags;
  if (targetPin !== undefined) return { tlsPin: targetPin, tlsCa: null, tlsInsecure: false };
  if (targetCa !== undefined)
    return { tlsPin: null, tlsCa: await certificatesIn(targetCa), tlsInsecure: false };
  return targetInsecure === true ? { tlsPin: null, tlsCa: null, tlsInsecure: true } : {};
}

async function certificatesIn(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const message = `--target-ca: ${path} cannot be read: ${messageOf(cause)}`;
    throw new FrontdoorError('invalid', 'value', message, { cause });
  });
  const pem = parseTlsCa(text);
  // The text is not quoted, because it may be a private key.
  if (pem === undefined)
    throw new FrontdoorError('invalid', 'value', `--target-ca: ${path} must be a ${TLS_CA_RULE}`);
  return pem;
}
