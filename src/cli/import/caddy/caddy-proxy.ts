/** `reverse_proxy` of Caddy: a service, and how requests reach it. */
import { formatHostPort } from '#base';
import { ANY_CERTIFICATE, type ImportedShare } from '../imported-share.ts';
import type { SourceTable } from '../source-table.ts';
import { pemOfBase64 } from './caddy-certificates.ts';
import { addHeaderTable } from './caddy-settings.ts';
import { BEHIND_PROXY, type HandlerPlace } from './caddy-site.ts';

const NOT_NEEDED = 'Frontdoor has no such setting: gateway and agent choose it.';
const NANOSECONDS = 1_000_000_000;
const MAX_CONNECT_SECONDS = 5;
const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

/** Returns whether requests of the scope have a service, or none that can be carried over. */
export function addProxy(place: HandlerPlace): boolean {
  const { handler, scope, chain, site } = place;
  if (isSignIn(handler)) {
    site.guard(handler, 'handle_response', 'Caddy let another service decide about requests (forward_auth)');
    return false;
  }
  const address = addressOf(handler);
  const transport = handler.table('transport');
  if (transport?.text('protocol') === 'fastcgi') {
    handler.remark('transport', 'Left out, because targets speak HTTP: share a web server that runs PHP.');
    site.guard(handler, 'transport', 'Caddy ran scripts of the folder, and a share would show them');
    return true;
  }
  if (address === undefined) {
    site.leftOut(handler);
    return true;
  }
  const scheme = schemeOf(transport);
  leaveRest(handler);
  if (handler.table('rewrite')?.has('uri') === true)
    site.guard(handler, 'rewrite', 'Caddy changed the paths of requests, so that the service got some only');
  if (scope.path !== undefined)
    for (const key of ['headers', 'transport'])
      if (handler.has(key) && !(key === 'transport' && scheme !== 'https'))
        handler.remark(key, 'A route has no settings of its own: those of its share count.');
  site.serve(place, `${scheme}://${address}${chain.base.replace(/\/$/, '')}`, (share) => {
    if (scheme === 'https') hintOnHost(share, handler);
    addHeaderTable(share, handler.table('headers')?.table('request'), 'requestHeaders');
    addHeaderTable(share, handler.table('headers')?.table('response'), 'responseHeaders');
    if (transport !== undefined) addTransport(share, transport);
  });
  return true;
}

function schemeOf(transport: SourceTable | undefined): 'http' | 'https' | 'h2c' {
  const versions = transport?.texts('versions') ?? [];
  if (transport?.has('tls') === true) return 'https';
  return versions.includes('h2c') ? 'h2c' : 'http';
}

/** `forward_auth` sends a copy of the request elsewhere, and continues if the response is a good one. */
function isSignIn(handler: SourceTable): boolean {
  return handler.has('handle_response') && handler.has('rewrite');
}

function addressOf(handler: SourceTable): string | undefined {
  const upstreams = handler.tables('upstreams');
  const [first] = upstreams;
  if (first === undefined) {
    handler.remark('', 'Left out, because it names no fixed address: make a share for each service.');
    return undefined;
  }
  if (upstreams.length > 1)
    handler.remark(
      'upstreams',
      'A share has one target: the first address is taken. Share a load balancer, or make a share for each of the others.',
    );
  const dial = (first.text('dial') ?? '').replace(/^tcp\//, '');
  const [, host, port] = /^(\[[^\]]+\]|[^:/{}]*)(?::([0-9]{1,5}))?$/.exec(dial) ?? [];
  if (dial.startsWith('unix'))
    first.remark(
      'dial',
      'A target has no Unix socket: let the service listen at an address such as 127.0.0.1:3000 as well.',
    );
  else if (host === undefined || dial === '')
    first.remark('dial', 'Left out, because a target is one fixed address: add it by hand.');
  else {
    const name = host === '' ? '127.0.0.1' : host.replace(/^\[|\]$/g, '');
    return port === undefined ? host : formatHostPort(name, Number(port));
  }
  return undefined;
}

function leaveRest(handler: SourceTable): void {
  handler.ignore('handler', 'upstreams', 'transport', 'headers', 'flush_interval', 'verbose_logs');
  handler.leave('load_balancing', 'A share has one target: share a load balancer if there are several.');
  handler.leave(
    'health_checks',
    'The agent checks whether the service can be reached: see "frontdoor agent status".',
  );
  handler.leave('handle_response', 'Responses of a service are never replaced: see upstream.errorPage.');
  handler.leave('rewrite', 'Left out, because a share changes no methods and paths: let the service do it.');
  handler.leave('trusted_proxies', BEHIND_PROXY);
  for (const key of [
    'request_buffers',
    'response_buffers',
    'buffer_requests',
    'buffer_responses',
    'max_buffer_size',
  ])
    handler.leave(key, NOT_NEEDED);
  for (const key of ['stream_timeout', 'stream_close_delay'])
    handler.leave(key, 'See upstream.idleTimeoutSeconds for connections that are idle.');
  handler.leaveOthers();
}

function hintOnHost(share: ImportedShare, handler: SourceTable): void {
  const set = handler.table('headers')?.table('request')?.table('set');
  if (set?.keys.some((key) => key.toLowerCase() === 'host') !== true)
    share.hint('Caddy 2.11 and later send the host of an https target to it: "hostHeader: target" does so.');
}

function addTransport(share: ImportedShare, transport: SourceTable): void {
  const tls = transport.table('tls');
  transport.ignore('protocol', 'tls');
  if (tls !== undefined) addTls(share, tls);
  const version = transport.plain('proxy_protocol');
  if (version === 'v1' || version === 'v2')
    share.set(transport, 'proxy_protocol', { proxyProtocol: version });
  const connect = secondsOf(transport, 'dial_timeout');
  if (connect !== undefined && connect <= MAX_CONNECT_SECONDS)
    share.set(transport, 'dial_timeout', { connectTimeoutSeconds: connect });
  else
    transport.leave(
      'dial_timeout',
      `Left out, because upstream.connectTimeoutSeconds is from 1 to ${MAX_CONNECT_SECONDS}.`,
    );
  transport.leave('response_header_timeout', 'Set policy.responseTimeoutSeconds.');
  for (const key of ['read_timeout', 'write_timeout'])
    transport.leave(key, 'See upstream.idleTimeoutSeconds.');
  for (const key of [
    'compression',
    'keep_alive',
    'read_buffer_size',
    'write_buffer_size',
    'max_conns_per_host',
  ])
    transport.leave(key, NOT_NEEDED);
  transport.leaveOthers();
}

function addTls(share: ImportedShare, tls: SourceTable): void {
  if (tls.flag('insecure_skip_verify') === true) {
    share.set(tls, 'insecure_skip_verify', { tlsInsecure: true });
    share.hint(ANY_CERTIFICATE);
  }
  const serverName = tls.text('server_name');
  if (serverName?.includes('{') === true)
    tls.remark('server_name', 'Left out, because upstream.tlsServerName is a fixed name.');
  else if (serverName !== undefined && serverName !== '')
    share.set(tls, 'server_name', { tlsServerName: serverName });
  const inline = tls.table('ca')?.text('provider') === 'inline' ? tls.table('ca') : undefined;
  const key = inline === undefined ? 'root_ca_pool' : 'trusted_ca_certs';
  const table = inline ?? tls;
  const authorities = table.texts(key);
  if (authorities.length > 0) share.set(table, key, { tlsCa: authorities.map(pemOfBase64).join('') });
  else tls.leave('ca', 'Put the certificates (PEM) into upstream.tlsCa.');
  tls.leave('root_ca_pem_files', 'Put the certificates of these files (PEM) into upstream.tlsCa.');
  for (const each of [
    'client_certificate_file',
    'client_certificate_key_file',
    'client_certificate_automate',
  ])
    tls.leave(
      each,
      'Start the agent with --target-client-certificate NAME=FILE and --target-client-key NAME=FILE, and set upstream.tlsClient to NAME.',
    );
  tls.ignore('ca');
  tls.leaveOthers();
}

/** Durations are nanoseconds, or texts such as `3s`. */
function secondsOf(table: SourceTable, key: string): number | undefined {
  const text = table.plain(key) ?? '';
  const [, digits = '', unit = ''] = /^([0-9]+)(ms|s|m|h|d)?$/.exec(text) ?? [];
  if (digits === '' || digits === '0') return undefined;
  return Math.ceil(unit === '' ? Number(digits) / NANOSECONDS : Number(digits) * UNIT_SECONDS[unit]!);
}
