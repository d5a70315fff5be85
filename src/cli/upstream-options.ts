/** Options of `agent share` for how requests reach the service, and the settings that they give. */
import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { definedFields, FrontdoorError, messageOf } from '#base';
import {
  CONTENT_CODINGS,
  isContentCoding,
  parseHeaderRule,
  parsePathAnswer,
  parseRoute,
  parseTlsCa,
  TLS_CA_RULE,
  type ContentCoding,
  type HeaderRule,
  type PathAnswer,
  type ProxyProtocol,
  type ShareRouteSetting,
  type ShareUpstreamChange,
} from '#domain/upstream';
import { secondsOf } from './seconds-option.ts';

export interface UpstreamFlags {
  readonly hostHeader?: string;
  readonly lenient?: boolean;
  readonly route?: readonly ShareRouteSetting[];
  readonly answer?: readonly PathAnswer[];
  readonly requestHeader?: readonly HeaderRule[];
  readonly responseHeader?: readonly HeaderRule[];
  readonly compression?: readonly ContentCoding[];
  readonly connectTimeout?: number;
  readonly idleTimeout?: number;
  readonly proxyProtocol?: ProxyProtocol;
  readonly maintenance?: boolean;
  readonly maintenanceText?: string;
  readonly maintenanceRetry?: number;
  /** Path of a file. */
  readonly errorPage?: string;
  readonly targetPin?: string;
  /** Path of a file. */
  readonly targetCa?: string;
  readonly targetClient?: string;
  readonly targetServerName?: string;
  readonly targetInsecure?: boolean;
}

/** Gateways alone write the heads of requests, so that a private share has no options for them. */
export function addUpstreamOptions(command: Command, mode: 'public' | 'private'): Command {
  if (mode === 'public') {
    addPathOptions(command);
    addHeadOptions(command);
    addMaintenanceOptions(command);
  }
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
        '--target-client <name>',
        'client certificate of the agent that an https target gets, by its name in --target-client-certificate of "agent start"; for example plc',
      ),
    )
    .addOption(
      new Option(
        '--target-insecure',
        'accept any certificate of an https target; anybody between agent and service can then read and change everything',
      ),
    );
}

function addPathOptions(command: Command): void {
  command
    .addOption(
      new Option(
        '--route <path=target>',
        'another target of this agent for a path and everything below it; strip:path=target sends requests without the path; may be repeated, and replaces the former list; for example /api=http://127.0.0.1:4000',
      ).argParser(collectRoutes),
    )
    .addOption(
      new Option(
        '--answer <path=text>',
        "answer of the gateway for a path, or for all below one (/old/*); path=>address redirects; may be repeated, and replaces the former list; for example '/old/*=>https://new.example.com/*'",
      ).argParser(collectAnswers),
    );
}

function addHeadOptions(command: Command): void {
  command
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
        '--compression <coding>',
        'coding with which gateways compress responses: zstd, br or gzip; may be repeated, the preferred one first, and replaces the former list; default for a new share: none; for example gzip',
      ).argParser(collectCodings),
    )
    .addOption(
      new Option(
        '--idle-timeout <time>',
        'how long a response or an upgraded connection may continue without a byte, at most 24h; default for a new share: 1h; for example 10m',
      ).argParser(secondsOf),
    );
}

function addMaintenanceOptions(command: Command): void {
  command
    .addOption(
      new Option(
        '--maintenance',
        'answer all requests with 503 instead of asking the service. "frontdoor shares upstream change" ends this',
      ),
    )
    .addOption(
      new Option(
        '--maintenance-text <text>',
        'what callers read during maintenance; for example "Back at 18:00 UTC"',
      ),
    )
    .addOption(
      new Option(
        '--maintenance-retry <time>',
        'Retry-After of the answers during maintenance, at most 7d; default for a new share: 5m; for example 10m',
      ).argParser(secondsOf),
    )
    .addOption(
      new Option(
        '--error-page <file>',
        'HTML page that browsers get when the service cannot be reached, and during maintenance; for example page.html',
      ),
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

function collectAnswers(text: string, before: readonly PathAnswer[] = []): readonly PathAnswer[] {
  const answer = parsePathAnswer(text);
  if (answer === undefined)
    throw new InvalidArgumentError('must be like /robots.txt=text or /old/*=>https://new.example.com/*.');
  return [...before, answer];
}

function collectCodings(text: string, before: readonly ContentCoding[] = []): readonly ContentCoding[] {
  if (!isContentCoding(text)) throw new InvalidArgumentError(`must be one of ${CONTENT_CODINGS.join(', ')}.`);
  return [...before, text];
}

/** Undefined if no option was given. */
export async function upstreamOf(flags: UpstreamFlags): Promise<ShareUpstreamChange | undefined> {
  const { hostHeader, lenient, proxyProtocol } = flags;
  const { targetServerName: tlsServerName, targetClient: tlsClient } = flags;
  const { route: routes, answer: answers, compression, errorPage } = flags;
  const { requestHeader: requestHeaders, responseHeader: responseHeaders } = flags;
  const { connectTimeout: connectTimeoutSeconds, idleTimeout: idleTimeoutSeconds } = flags;
  const { maintenance, maintenanceText, maintenanceRetry: maintenanceRetrySeconds } = flags;
  const change = {
    ...definedFields({
      hostHeader,
      lenient,
      proxyProtocol,
      routes,
      answers,
      requestHeaders,
      responseHeaders,
      compression,
      connectTimeoutSeconds,
      idleTimeoutSeconds,
      maintenance,
      maintenanceText,
      maintenanceRetrySeconds,
      errorPage: errorPage === undefined ? undefined : await textIn('--error-page', errorPage),
      tlsServerName,
      tlsClient,
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
  const pem = parseTlsCa(await textIn('--target-ca', path));
  // The text is not quoted, because it may be a private key.
  if (pem === undefined)
    throw new FrontdoorError('invalid', 'value', `--target-ca: ${path} must be a ${TLS_CA_RULE}`);
  return pem;
}

async function textIn(option: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    const message = `${option}: ${path} cannot be read: ${messageOf(cause)}`;
    throw new FrontdoorError('invalid', 'value', message, { cause });
  });
}
