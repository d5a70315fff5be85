/** The JSON configuration of Caddy, which `caddy adapt` prints and its admin API has: sites of HTTP servers become shares. */
import { HostShares, labelOf } from '../host-shares.ts';
import type { ImportFormat } from '../import-format.ts';
import { ImportedShare, type ImportDraft } from '../imported-share.ts';
import type { SourceTable } from '../source-table.ts';
import { addClientCertificates } from './caddy-certificates.ts';
import { covers, hostsOf } from './caddy-scope.ts';
import { BEHIND_PROXY, CaddySite, NO_ERROR_ROUTES } from './caddy-site.ts';
import { CaddyWalk } from './caddy-walk.ts';

/** How many routes and handlers are visited for a file at most: hosts and matchers multiply those inside. */
const MAX_VISITS = 1_000_000;
const MAX_HOSTS = 1_000;
const INTRO =
  'A share can be reached through the gateway, also if only your own network could reach the site: remove those, or guard them.';
const LOCAL_LISTENER =
  /^(?:tcp\/)?(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2[0-9]|3[01])\.|localhost:|\[::1\]|\[f[cd]|unix)/i;
/** Names that are in no public zone. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|localdomain|lan|home|internal|intranet|corp|home\.arpa)$/;
const NOT_OF_SHARES = 'It is of Caddy itself: gateways and agents have options of their own (--help).';

export const caddyImport: ImportFormat = {
  product: 'Caddy',
  isOf: (keys) => keys.has('apps'),
  draftOf,
};

function draftOf(root: SourceTable): ImportDraft {
  root.leave('logging', 'Access logs are those of gateways: see "frontdoor gateway --help".');
  root.ignore('admin');
  const apps = root.table('apps');
  root.leaveOthers(NOT_OF_SHARES);
  const http = apps?.table('http');
  apps?.leave('tls', 'Gateways obtain certificates themselves (docs/guide/automatic-certificates.md).');
  apps?.leave('layer4', 'Make a private share of each service (docs/guide/private-shares.md).');
  apps?.leaveOthers(NOT_OF_SHARES);
  const found: CaddyShares = { hosts: new HostShares(), served: new Set(), visits: { left: MAX_VISITS } };
  for (const [name, server] of http?.named('servers') ?? []) addServer(name, server, found);
  return { shares: found.hosts.all(() => undefined), accesses: [], intro: [INTRO] };
}

interface CaddyShares {
  readonly hosts: HostShares;
  /** Domains of shares. */
  readonly served: Set<string>;
  readonly visits: { left: number };
}

function addServer(name: string, server: SourceTable, found: CaddyShares): void {
  server.ignore(
    ...[
      'listen',
      'routes',
      'tls_connection_policies',
      'automatic_https',
      'logs',
      'named_routes',
      'protocols',
    ],
  );
  server.leave('errors', NO_ERROR_ROUTES);
  for (const key of ['trusted_proxies', 'client_ip_headers', 'trusted_proxies_strict', 'listener_wrappers'])
    server.leave(key, BEHIND_PROXY);
  server.leaveOthers(NOT_OF_SHARES);
  for (const domains of [...sitesOf(server), []]) addSite(name, server, domains, found);
}

function addSite(
  name: string,
  server: SourceTable,
  domains: readonly string[],
  { hosts, served, visits }: CaddyShares,
): void {
  const [host] = domains;
  const site = new CaddySite(host);
  const isLocal = server.texts('listen').every((address) => LOCAL_LISTENER.test(address));
  if (isLocal && server.has('listen'))
    site.guard(server, 'listen', 'Caddy listened at an address of this machine or network only');
  new CaddyWalk(server, visits).follow(site);
  if (domains.length > 0 && domains.every((each) => LOCAL_NAME.test(each)) && site.root !== undefined)
    site.guard(site.root.table, '', 'Caddy served a name of your own network');
  addClientCertificates(server, site);
  const key = `${name} ${host ?? ''}`;
  const { root } = site;
  if (root === undefined) site.leaveAll();
  else {
    const fresh = domains.filter((each) => !served.has(each));
    if (fresh.length === 0 && domains.length > 0) {
      root.table.remark('', 'Left out, because an earlier server of the file serves the same hosts.');
      return;
    }
    const label = host === undefined ? `site${portOf(server)}` : labelOf(host);
    const share = new ImportedShare(root.table, { name: label, mode: 'public', target: root.target });
    for (const domain of fresh) {
      served.add(domain);
      share.domain(root.table, '', domain);
    }
    site.complete(share);
    hosts.add(key, share);
  }
  for (const rule of site.rules) hosts.addRule(key, rule);
}

function portOf(server: SourceTable): string {
  const [address = ''] = server.texts('listen');
  return /:([0-9]+)$/.exec(address)?.[0].replace(':', '-') ?? '';
}

/** Hosts that all routes treat alike become one share. */
function sitesOf(server: SourceTable): readonly (readonly string[])[] {
  const lists: (readonly string[])[] = [];
  const named = server.table('named_routes');
  addHostLists(server.tables('routes'), lists);
  for (const key of named?.keys ?? [])
    addHostLists(
      [named!.table(key)].flatMap((each) => each ?? []),
      lists,
    );
  const hosts = [...new Set(lists.flat())];
  if (hosts.length > MAX_HOSTS) {
    server.notes.problem(
      server.at('routes'),
      `must have at most ${MAX_HOSTS} hosts: import them in several files`,
    );
    return [];
  }
  return [
    ...Map.groupBy(hosts, (host) =>
      lists.flatMap((list, at) => (list.some((pattern) => covers(pattern, host)) ? [at] : [])).join(),
    ).values(),
  ];
}

function addHostLists(routes: readonly SourceTable[], lists: (readonly string[])[]): void {
  for (const route of routes) {
    for (const set of route.tables('match')) lists.push(hostsOf(set) ?? []);
    for (const handler of route.tables('handle')) addHostLists(handler.tables('routes'), lists);
  }
}
