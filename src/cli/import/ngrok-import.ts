/** The agent file of ngrok: `tunnels` of versions 1 to 3, and `endpoints` of version 3. */
import { ImportedShare, NO_TOKEN, type HeaderDirection, type ImportDraft } from './imported-share.ts';
import type { ImportFormat } from './import-format.ts';
import { addHeader, addNetworks, NGROK_GUARD } from './ngrok-settings.ts';
import { addTrafficPolicy } from './ngrok-traffic-policy.ts';
import type { SourceTable } from './source-table.ts';

/** Names that ngrok lends, and that cannot move. */
const LENT_NAME = /\.(?:ngrok(?:-free)?\.(?:app|dev|io|pizza)|ngrok\.io|internal)$/;
const OWN_CONNECTION =
  'It is of the agent of ngrok: see "frontdoor agent start --help" for that of Frontdoor.';
const GUARDS = [
  'oauth',
  'oidc',
  'saml',
  'verify_webhook',
  'webhook_verification',
  'mutual_tls_cas',
  'user_agent_filter',
];
const NOT_HERE = [
  'circuit_breaker',
  'websocket_tcp_converter',
  'proxy_proto',
  'crt',
  'key',
  'terminate_at',
  'agent_tls_termination',
];

export const ngrokImport: ImportFormat = {
  product: 'ngrok',
  isOf: (keys) => ['tunnels', 'endpoints', 'authtoken'].some((key) => keys.has(key)),
  draftOf,
};

function draftOf(root: SourceTable): ImportDraft {
  root.ignore('version');
  const agent = root.table('agent');
  for (const table of [root, agent]) {
    for (const key of ['authtoken', 'api_key']) table?.leave(key, NO_TOKEN);
    if (table === agent) agent?.leaveOthers(OWN_CONNECTION);
  }
  const tunnels = root.named('tunnels').flatMap(([name, table]) => tunnelShare(name, table));
  const endpoints = root.tables('endpoints').flatMap(endpointShare);
  root.leaveOthers(OWN_CONNECTION);
  return {
    shares: [...endpoints, ...tunnels],
    accesses: [],
    intro: ['Settings of the ngrok dashboard, such as edges and policies of a domain, are not in its file.'],
  };
}

function tunnelShare(name: string, table: SourceTable): ImportedShare[] {
  table.ignore('inspect', 'metadata', 'schemes', 'bind_tls');
  const address = table.plain('addr');
  const protocol = table.text('proto') ?? 'http';
  if (
    table.leave(
      'labels',
      'The settings of a labeled tunnel are in the ngrok dashboard: make the share by hand.',
    )
  )
    return [];
  const share = shareOf(table, 'addr', { name, address, protocol });
  if (share === undefined) return [];
  const hosts = ['domain', 'hostname', 'url'];
  for (const key of hosts) addHost(share, table, key);
  table.ignore('subdomain', 'remote_addr');
  addTunnelSettings(share, table);
  table.leaveOthers();
  return [share];
}

function endpointShare(table: SourceTable): ImportedShare[] {
  table.ignore('description', 'metadata');
  const url = table.text('url');
  const upstream = table.table('upstream');
  const address = upstream?.plain('url');
  const name = table.text('name') ?? hostOf(url ?? '').split('.', 1)[0]!;
  upstream?.leave(
    'protocol',
    'A service that needs HTTP/2 has a target that starts with h2c://, or h2:// for TLS.',
  );
  upstream?.leave(
    'proxy_protocol',
    'A service behind Frontdoor reads the address of the client from X-Forwarded-For.',
  );
  upstream?.leaveOthers();
  const protocol = /^(tcp|tls):/.exec(url ?? '')?.[1] ?? 'http';
  const share = shareOf(upstream ?? table, 'url', { name, address, protocol });
  if (share === undefined) return [];
  addHost(share, table, 'url');
  table.leave(
    'bindings',
    'A share is public, or private for the environments of its grants: choose its mode.',
  );
  table.leave('pooling_enabled', 'Frontdoor has no pools: each share has one agent.');
  table.leave('agent_tls_termination', 'Gateways terminate TLS with their own certificates.');
  addTrafficPolicy(share, table, 'traffic_policy');
  table.leaveOthers();
  return [share];
}

interface NgrokService {
  readonly name: string;
  readonly address: string | undefined;
  readonly protocol: string;
}

function shareOf(
  table: SourceTable,
  key: string,
  { name, address, protocol }: NgrokService,
): ImportedShare | undefined {
  if (address === undefined) {
    table.notes.problem(table.path, `must have ${key}: the address of the service, such as 3000`);
    return undefined;
  }
  const isPrivate = protocol === 'tcp' || protocol === 'tls' || /^(?:tcp|tls):/.test(address);
  const local = address.replace(/^(?:tcp|tls):\/\//, '').replace(/^(?=[0-9]+$)/, 'localhost:');
  if (isPrivate) {
    table.remark(
      key,
      'The share is private: add grants for the environments that dial it ("frontdoor agent access open" on their machines).',
    );
    return new ImportedShare(table, { name, mode: 'private', target: `tcp://${local.replace(/\/$/, '')}` });
  }
  const target = /^[a-z]+:\/\//.test(local) ? local.replace(/\/$/, '') : `http://${local}`;
  const share = new ImportedShare(table, { name, mode: 'public', target });
  if (target.startsWith('https:') && table.flag('verify_upstream_tls') !== true)
    table.remark(
      key,
      'ngrok accepted any certificate of the service, and Frontdoor verifies it: add upstream.tlsPin if verification fails.',
    );
  return share;
}

function addHost(share: ImportedShare, table: SourceTable, key: string): void {
  const host = hostOf(table.text(key) ?? '');
  if (host === '' || share.mode === 'private') return;
  if (LENT_NAME.test(host))
    table.remark(key, 'The name belongs to ngrok: the share has an address of the gateway.');
  else share.domain(table, key, host);
}

function addTunnelSettings(share: ImportedShare, table: SourceTable): void {
  const hostHeader = table.text('host_header');
  if (hostHeader !== undefined)
    share.set(table, 'host_header', { hostHeader: hostHeader === 'rewrite' ? 'target' : hostHeader });
  for (const key of ['basic_auth', 'auth']) share.credentials(table, key);
  const oauth = table.table('oauth');
  for (const email of oauth?.texts('allow_emails') ?? []) share.email(oauth!, 'allow_emails', email);
  for (const domain of oauth?.texts('allow_domains') ?? [])
    share.email(oauth!, 'allow_domains', `*@${domain}`);
  for (const key of GUARDS)
    if (table.has(key)) share.guardByHand(table, key, NGROK_GUARD, `ngrok had the guard ${key}`);
  const addresses = table.table('ip_restriction');
  addNetworks(share, addresses, 'allow_cidrs', 'ipAllow');
  addNetworks(share, addresses, 'deny_cidrs', 'ipDeny');
  addHeaderTable(share, table.table('request_header'), 'requestHeaders');
  addHeaderTable(share, table.table('response_header'), 'responseHeaders');
  if (table.flag('compression') === true) share.set(table, 'compression', { compression: ['gzip'] });
  for (const key of NOT_HERE)
    table.leave(
      key,
      'Frontdoor has no such setting here: gateways terminate TLS, and connect to the service by HTTP.',
    );
  for (const key of ['traffic_policy', 'policy']) addTrafficPolicy(share, table, key);
}

function addHeaderTable(
  share: ImportedShare,
  table: SourceTable | undefined,
  direction: HeaderDirection,
): void {
  if (table === undefined) return;
  for (const line of table.texts('add')) {
    const colon = line.indexOf(':');
    if (colon < 1) table.notes.problem(table.at('add'), 'must have entries of the form "NAME: VALUE"');
    else
      addHeader(share, { table, key: 'add', direction }, line.slice(0, colon), line.slice(colon + 1).trim());
  }
  for (const name of table.texts('remove'))
    share.header(table, 'remove', direction, { action: 'remove', name });
}

function hostOf(url: string): string {
  return url
    .replace(/^[a-z]+:\/\//, '')
    .replace(/[:/].*$/s, '')
    .toLowerCase();
}
