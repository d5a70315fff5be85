/** frpc.toml, and the same keys in YAML or JSON or as read of INI: `proxies` are services of this machine, `visitors` are accesses to those of others. */
import { formatHostPort } from '#base';
import { HostShares } from './host-shares.ts';
import type { ImportFormat } from './import-format.ts';
import {
  NO_TOKEN,
  ImportedShare,
  type DraftAccess,
  type HeaderDirection,
  type ImportDraft,
} from './imported-share.ts';
import type { SourceTable } from './source-table.ts';

const OWN_CONNECTION =
  'It is of frpc and its server: see "frontdoor agent start --help" for the agent of Frontdoor.';
const DEFAULT_HOST = '127.0.0.1';
/** Types that carry datagrams. Others that are not of HTTP carry streams. */
const DATAGRAMS = ['udp', 'sudp'];
const WEB = ['http', 'https'];

export const frpcImport: ImportFormat = {
  product: 'frpc',
  isOf: (keys) => ['proxies', 'visitors', 'serverAddr'].some((key) => keys.has(key)),
  draftOf,
};

function draftOf(root: SourceTable): ImportDraft {
  for (const key of ['auth', 'serverAddr', 'user', 'clientID']) root.leave(key, NO_TOKEN);
  root.ignore('serverPort');
  root.leave('includes', 'Import each file that it names by itself.');
  root.leave('start', 'All proxies are imported: remove the shares that you do not need.');
  const hosts = new HostShares();
  const others: ImportedShare[] = [];
  for (const proxy of root.tables('proxies')) addProxy(proxy, hosts, others);
  const accesses = root.tables('visitors').flatMap(accessOf);
  root.leaveOthers(OWN_CONNECTION);
  return { shares: [...hosts.all(() => undefined), ...others], accesses, intro: [] };
}

function addProxy(proxy: SourceTable, hosts: HostShares, others: ImportedShare[]): void {
  const name = proxy.text('name') ?? '';
  const type = proxy.text('type') ?? 'tcp';
  const target = targetOf(proxy, type);
  const paths = proxy.texts('locations');
  const locations = paths.includes('/') ? [] : paths;
  const domains = proxy.texts('customDomains');
  proxy.ignore('metadatas', 'annotations');
  const isOff = proxy.flag('enabled') === false;
  if (isOff)
    proxy.remark('enabled', 'Left out, because it is turned off: add a share if it should be served.');
  if (target === undefined || isOff) return;
  if (locations.length > 0 && domains.length > 0) {
    for (const path of locations)
      for (const host of domains)
        hosts.addRule(host, {
          table: proxy,
          key: 'locations',
          path,
          target,
          onShare: (share) => addGuards(share, proxy),
        });
    proxy.leave('subdomain', 'The address of a share begins with its name: change name to have this one.');
    leaveRest(proxy);
    return;
  }
  const mode = target.startsWith('tcp:') || target.startsWith('udp:') ? 'private' : 'public';
  const subdomain = mode === 'public' ? proxy.text('subdomain') : undefined;
  const share = new ImportedShare(proxy, { name: subdomain ?? name, mode, target });
  if (locations.length > 0)
    proxy.remark(
      'locations',
      'The share serves all paths: move the target to upstream.routes to serve these only.',
    );
  if (mode === 'public') for (const host of domains) share.domain(proxy, 'customDomains', host);
  addSettings(share, proxy);
  leaveRest(proxy);
  const isFirst = domains.every((host) => !hosts.has(host));
  if (domains.length > 0 && mode === 'public' && isFirst) hosts.add(domains[0]!, share);
  else others.push(share);
}

function targetOf(proxy: SourceTable, type: string): string | undefined {
  const plugin = proxy.table('plugin');
  const host = proxy.text('localIP') ?? DEFAULT_HOST;
  const port = proxy.number('localPort');
  if (plugin !== undefined) return pluginTarget(proxy, plugin);
  if (port === undefined) {
    proxy.remark('', 'Left out, because it has no single port of a service: make a share for each port.');
    return undefined;
  }
  if (WEB.includes(type)) return `${type}://${formatHostPort(host, port)}`;
  const scheme = DATAGRAMS.includes(type) ? 'udp' : 'tcp';
  proxy.remark(
    'type',
    `The share is private: add grants for the environments that dial it ("frontdoor agent access open" on their machines).`,
  );
  return `${scheme}://${formatHostPort(host, port)}`;
}

function pluginTarget(proxy: SourceTable, plugin: SourceTable): string | undefined {
  const type = plugin.text('type') ?? '';
  const address = plugin.text('localAddr');
  const folder = plugin.text('localPath');
  if (type === 'static_file' && folder?.startsWith('/') === true && proxy.text('type') === 'http') {
    if (plugin.has('httpUser') || plugin.has('stripPrefix')) {
      proxy.remark(
        'plugin',
        'Left out, because it has a user or a prefix: share the folder by hand (docs/guide/shared-folders.md).',
      );
      return undefined;
    }
    return `file://${folder}`;
  }
  if (address !== undefined && (type === 'https2http' || type === 'http2http')) return `http://${address}`;
  if (address !== undefined && (type === 'https2https' || type === 'http2https')) return `https://${address}`;
  proxy.remark('plugin', 'Frontdoor has no such plugin: share the service itself, by its address.');
  return undefined;
}

function addSettings(share: ImportedShare, proxy: SourceTable): void {
  addGuards(share, proxy);
  if (share.mode === 'private') return;
  const hostHeader = proxy.text('hostHeaderRewrite');
  if (hostHeader !== undefined && hostHeader !== '') share.set(proxy, 'hostHeaderRewrite', { hostHeader });
  addHeaders(share, proxy.table('requestHeaders'), 'requestHeaders');
  addHeaders(share, proxy.table('responseHeaders'), 'responseHeaders');
  if (share.target.startsWith('https:') && proxy.text('type') === 'https')
    proxy.remark(
      'type',
      'Gateways terminate TLS with their own certificates, and the agent verifies that of the service: add upstream.tlsPin if verification fails.',
    );
}

/** The password stays in the file of frpc. */
function addGuards(share: ImportedShare, proxy: SourceTable): void {
  const user = proxy.text('httpUser');
  proxy.ignore('httpPassword');
  if (user !== undefined && user !== '') share.user(proxy, 'httpUser', user);
  if (proxy.has('routeByHTTPUser'))
    share.guardByHand(proxy, 'routeByHTTPUser', 'frp-users', 'frps chose the service by the user');
}

function addHeaders(
  share: ImportedShare,
  headers: SourceTable | undefined,
  direction: HeaderDirection,
): void {
  const set = headers?.table('set');
  for (const name of set?.keys ?? []) {
    const value = set!.plain(name);
    if (value !== undefined) share.header(set!, name, direction, { action: 'set', name, value });
  }
  headers?.leaveOthers();
}

function leaveRest(proxy: SourceTable): void {
  proxy.leave(
    'remotePort',
    'The port is the one of "frontdoor agent access open" on each machine that dials the share.',
  );
  proxy.leave('secretKey', 'Not carried over: grants decide who can dial a share.');
  proxy.leave('allowUsers', 'Name the environments of these users in grants.');
  proxy.leave('transport', 'Frontdoor has no such setting: circuits are encrypted always.');
  proxy.leave('loadBalancer', 'Frontdoor has no groups: each share has one agent.');
  proxy.leave('healthCheck', 'Frontdoor has no such setting: the agent reports targets that do not answer.');
  proxy.leaveOthers();
}

function accessOf(visitor: SourceTable): DraftAccess[] {
  visitor.ignore('name');
  visitor.leave('secretKey', 'Not carried over: the share must have a grant for this environment.');
  const type = visitor.text('type') ?? '';
  const share = visitor.text('serverName');
  const host = visitor.text('bindAddr') ?? DEFAULT_HOST;
  const port = visitor.number('bindPort');
  visitor.leave('transport', 'Frontdoor has no such setting: circuits are encrypted always.');
  visitor.leaveOthers();
  if (share === undefined || port === undefined || port < 1) {
    visitor.remark('', 'Left out, because an access needs serverName and bindPort: add it to accesses.');
    return [];
  }
  return [{ share, listen: formatHostPort(host, port), protocol: DATAGRAMS.includes(type) ? 'udp' : 'tcp' }];
}
