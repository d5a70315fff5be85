/** config.yml of cloudflared: `ingress` rules of which the first one that matches counts. */
import { NO_TOKEN, ANY_CERTIFICATE, ImportedShare, type ImportDraft } from './imported-share.ts';
import { HostShares, labelOf } from './host-shares.ts';
import type { ImportFormat } from './import-format.ts';
import type { SourceTable } from './source-table.ts';

const ACCESS_GUARD = 'cloudflare-access';
const OWN_CONNECTION = 'It is of the connection to Cloudflare, which the agent does not have.';
const NOT_NEEDED = 'Frontdoor has no such setting: the agent chooses it.';
/** Ports that the clients of cloudflared use for a service without one. */
const PRIVATE_SCHEMES: Readonly<Record<string, number | undefined>> = {
  tcp: undefined,
  ssh: 22,
  rdp: 3_389,
  smb: 445,
};
const MAX_CONNECT_SECONDS = 5;
const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600 };
/** A regular expression that means a path and everything below it. Many people leave out `^`, or write the end as in a shell. */
const PATH_PREFIX = /^(\^?)((?:\/[A-Za-z0-9_~-]+)+)(?:\/?(?:\.\*)?\$?|\/\*|\(\/\|\$\))$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const cloudflaredImport: ImportFormat = {
  product: 'cloudflared',
  isOf: (keys) =>
    keys.has('ingress') || (keys.has('tunnel') && (keys.has('credentials-file') || keys.has('url'))),
  draftOf,
};

function draftOf(root: SourceTable): ImportDraft {
  const tunnel = root.plain('tunnel') ?? '';
  root.leave('tunnel', NO_TOKEN);
  root.leave('credentials-file', NO_TOKEN);
  root.leave('token', NO_TOKEN);
  root.leave('warp-routing', 'Make a private share of each service that people reached by its address.');
  for (const key of ['protocol', 'edge-ip-version', 'region', 'retries', 'grace-period', 'post-quantum'])
    root.leave(key, OWN_CONNECTION);
  for (const key of ['loglevel', 'logfile', 'metrics'])
    root.leave(key, 'Options of "frontdoor agent start" set it.');
  const defaults = root.table('originRequest');
  const hosts = new HostShares();
  const found: ImportedShare[] = [];
  let rest: SourceTable | undefined;
  const rules = root.tables('ingress');
  if (rules.length > 0)
    root.remark(
      'ingress',
      'Access applications of the Cloudflare dashboard are not in this file: add authProviders or policy to shares that they protect.',
    );
  for (const rule of rules) {
    const host = rule.text('hostname')?.toLowerCase() ?? '';
    if (host === '' && !rule.has('path')) rest = rule;
    else addRule(rule, host, { hosts, found, defaults });
  }
  const name = tunnel === '' || UUID.test(tunnel) ? 'tunnel' : tunnel;
  const only = root.has('url') ? root : rules.length === 1 ? rest : undefined;
  if (only !== undefined) addOnly(only, name, { hosts, found, defaults });
  const last = rest === only ? undefined : rest;
  const isLastWeb = /^https?:/.test(last?.text('service') ?? '');
  const shares = hosts.all((host) =>
    last === undefined || !isLastWeb ? undefined : webShare(last, host, last.text('service') ?? '', defaults),
  );
  if (last !== undefined) leaveLast(last);
  root.leaveOthers();
  return {
    shares: [...shares, ...found],
    accesses: [],
    intro: ['Access applications of the Cloudflare dashboard are not in config.yml, and guard nothing here.'],
  };
}

interface RuleContext {
  readonly hosts: HostShares;
  readonly found: ImportedShare[];
  readonly defaults: SourceTable | undefined;
}

function addRule(rule: SourceTable, host: string, { hosts, found, defaults }: RuleContext): void {
  const service = rule.text('service') ?? '';
  const path = rule.text('path');
  const scheme = /^([a-z]+):\/\//.exec(service)?.[1] ?? '';
  if (host === '')
    rule.remark(
      'path',
      'Left out, because the rule is for every host: add the path to upstream.routes of each share.',
    );
  else if (hosts.has(host))
    rule.remark(
      '',
      'Left out, because an earlier rule serves this host: cloudflared never reaches this one.',
    );
  else if (Object.hasOwn(PRIVATE_SCHEMES, scheme)) {
    const share = privateShare(rule, host, service, scheme);
    addOrigin(share, defaults, rule.table('originRequest'));
    found.push(share);
  } else if (scheme !== 'http' && scheme !== 'https') rule.remark('service', adviceOn(service));
  else if (path === undefined) hosts.add(host, webShare(rule, host, service, defaults));
  else {
    // Without a path of whole segments the rule makes no route, but what it demanded holds for the whole host.
    const [, anchor, prefix = ''] = PATH_PREFIX.exec(path) ?? [];
    if (anchor === '')
      rule.remark(
        'path',
        `The route is for paths that begin with ${prefix}, and cloudflared searched all of the path.`,
      );
    const target = withoutSlash(service);
    const guarded = rule.table('originRequest')?.table('access')?.flag('required') === true;
    const onShare = guarded ? (share: ImportedShare): void => guard(share, rule, 'originRequest') : undefined;
    hosts.addRule(host, { table: rule, key: 'path', path: prefix, target, onShare });
    leaveOrigin(rule);
  }
  rule.leaveOthers();
}

/** A tunnel with one service for all hosts. */
function addOnly(table: SourceTable, name: string, { found, defaults }: RuleContext): void {
  const key = table.has('url') ? 'url' : 'service';
  const service = table.text(key) ?? '';
  if (!/^https?:/.test(service)) {
    if (!service.startsWith('http_status:')) table.remark(key, adviceOn(service));
    return;
  }
  const share = new ImportedShare(table, { name, mode: 'public', target: withoutSlash(service) });
  table.remark(key, 'The file names no hosts: add those of the tunnel to domains.');
  addOrigin(share, defaults, key === 'url' ? undefined : table.table('originRequest'));
  found.push(share);
}

function webShare(
  rule: SourceTable,
  host: string,
  service: string,
  defaults: SourceTable | undefined,
): ImportedShare {
  const share = new ImportedShare(rule, {
    name: labelOf(host),
    mode: 'public',
    target: withoutSlash(service),
  });
  share.domain(rule, 'hostname', host);
  addOrigin(share, defaults, rule.table('originRequest'));
  return share;
}

function privateShare(rule: SourceTable, host: string, service: string, scheme: string): ImportedShare {
  const address = withoutSlash(service.slice(scheme.length + '://'.length));
  const port = PRIVATE_SCHEMES[scheme];
  const target = /:[0-9]+$/.test(address) || port === undefined ? address : `${address}:${port}`;
  rule.remark(
    'service',
    'The share is private: add grants for the environments that dial it ("frontdoor agent access open" on their machines).',
  );
  return new ImportedShare(rule, { name: labelOf(host), mode: 'private', target: `tcp://${target}` });
}

/** Settings of the rule count before those of the file. */
function addOrigin(share: ImportedShare, ...tables: readonly (SourceTable | undefined)[]): void {
  for (const table of tables) if (table !== undefined) addOriginOf(share, table);
}

function addOriginOf(share: ImportedShare, origin: SourceTable): void {
  const access = origin.table('access');
  if (access?.flag('required') === true) guard(share, origin, 'access');
  for (const key of [
    'tcpKeepAlive',
    'noHappyEyeballs',
    'keepAliveConnections',
    'keepAliveTimeout',
    'tlsTimeout',
    'disableChunkedEncoding',
  ])
    origin.leave(key, NOT_NEEDED);
  origin.leave('http2Origin', 'A service that needs HTTP/2 has a target that starts with h2:// or grpcs://.');
  for (const key of ['proxyAddress', 'proxyPort', 'proxyType', 'bastionMode', 'ipRules'])
    origin.leave(key, 'Make a private share for each service that clients reached through this proxy.');
  const hostHeader = origin.text('httpHostHeader');
  const serverName = origin.text('originServerName');
  const isUnverified = origin.flag('noTLSVerify');
  const isWeb = share.mode === 'public';
  if (isWeb && hostHeader !== undefined && hostHeader !== '')
    share.set(origin, 'httpHostHeader', { hostHeader });
  const isTls = share.target.startsWith('https:');
  if (isTls && serverName !== undefined && serverName !== '')
    share.set(origin, 'originServerName', { tlsServerName: serverName });
  if (isTls && isUnverified !== undefined && isUnverified !== (share.upstream.tlsInsecure ?? false))
    share.set(origin, 'noTLSVerify', { tlsInsecure: isUnverified });
  if (isTls && isUnverified === true) share.hint(ANY_CERTIFICATE);
  origin.leave('caPool', 'Put the certificates of this file (PEM) into upstream.tlsCa.');
  origin.leave('matchSNItoHost', 'Put the name of the certificate into upstream.tlsServerName.');
  addConnectTimeout(share, origin);
  origin.leaveOthers();
}

function guard(share: ImportedShare, table: SourceTable, key: string): void {
  share.guardByHand(table, key, ACCESS_GUARD, 'cloudflared required a token of Cloudflare Access');
}

/** The settings of a rule that becomes a route. */
function leaveOrigin(rule: SourceTable): void {
  rule.leave('originRequest', 'A route has no settings of its own: those of its share count.');
}

function addConnectTimeout(share: ImportedShare, origin: SourceTable): void {
  const text = origin.plain('connectTimeout');
  if (text === undefined) return;
  const [, digits = '', unit = 's'] = /^([0-9]+)(ms|s|m|h)?$/.exec(text) ?? [];
  const seconds = Math.ceil(Number(digits) * UNIT_SECONDS[unit]!);
  if (digits === '' || seconds < 1 || seconds > MAX_CONNECT_SECONDS)
    origin.remark(
      'connectTimeout',
      `Left out, because upstream.connectTimeoutSeconds is from 1 to ${MAX_CONNECT_SECONDS}.`,
    );
  else share.set(origin, 'connectTimeout', { connectTimeoutSeconds: seconds });
}

function leaveLast(rule: SourceTable): void {
  const service = rule.text('service') ?? '';
  rule.ignore('hostname', 'originRequest');
  // The usual end of the list: other hosts are not found, as at a gateway.
  if (!/^http_status:[45][0-9]{2}$/.test(service))
    rule.remark('service', 'Hosts that no rule names are not served: make a share for each of them.');
  rule.leaveOthers();
}

function adviceOn(service: string): string {
  if (/^unix(?:\+tls)?:/.test(service))
    return 'A target has no Unix socket: let the service listen at an address such as 127.0.0.1:3000 as well.';
  if (service.startsWith('http_status:'))
    return 'Left out, because no service answers: a share can answer paths itself (upstream.answers).';
  return 'Frontdoor has no such service: make a private share of each service that clients reached through it.';
}

function withoutSlash(service: string): string {
  return service.replace(/\/$/, '');
}
