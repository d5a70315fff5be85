/** Handlers of Caddy that are settings of a share: headers, compression and users. */
import { isContentCoding } from '#domain/upstream';
import type { HeaderDirection, ImportedShare } from '../imported-share.ts';
import type { SourceTable } from '../source-table.ts';
import { isEverything } from './caddy-scope.ts';
import type { HandlerPlace } from './caddy-site.ts';

const OWN_HOSTS = ['{http.reverse_proxy.upstream.hostport}', '{http.reverse_proxy.upstream.host}'];
const CLIENT_HOSTS = ['{http.request.host}', '{http.request.hostport}', '{http.request.header.Host}'];
/** Caddy fills `{…}` in for each request. */
const PLACEHOLDER = /\{[\w.$-]+\}/;

export function addHeaders({ handler, scope, site }: HandlerPlace): void {
  for (const [key, direction] of [
    ['request', 'requestHeaders'],
    ['response', 'responseHeaders'],
  ] as const)
    if (handler.has(key))
      site.setting(scope, handler, key, (share) => addHeaderTable(share, handler.table(key), direction));
}

/** `set`, `add` and `delete` of a table. */
export function addHeaderTable(
  share: ImportedShare,
  table: SourceTable | undefined,
  direction: HeaderDirection,
): void {
  if (table === undefined) return;
  table.ignore('deferred');
  if (table.has('require')) {
    table.remark('require', 'Left out, because headers of a share are set in every response.');
    return;
  }
  for (const action of ['set', 'add'] as const) {
    const headers = table.table(action);
    for (const name of headers?.keys ?? []) {
      for (const value of headers!.texts(name))
        if (name.toLowerCase() === 'host' && direction === 'requestHeaders')
          addHost(share, headers!, name, value);
        else if (PLACEHOLDER.test(value))
          headers!.remark(name, `The header ${name} is left out, because values are fixed texts.`);
        else share.header(headers!, name, direction, { action, name, value });
    }
  }
  for (const name of table.texts('delete'))
    if (name.includes('*'))
      table.remark('delete', 'Left out, because headers are removed by their whole name.');
    else if (!isRemoved(share, direction, name))
      share.header(table, 'delete', direction, { action: 'remove', name });
  table.leave('replace', 'Left out, because values are fixed texts.');
  table.leaveOthers();
}

function isRemoved({ upstream }: ImportedShare, direction: HeaderDirection, name: string): boolean {
  return (upstream[direction] ?? []).some(
    (rule) => rule.action === 'remove' && rule.name.toLowerCase() === name.toLowerCase(),
  );
}

export function addCompression({ handler, scope, site }: HandlerPlace): void {
  const all = handler.table('encodings')?.keys ?? [];
  const preferred = handler.texts('prefer');
  const codings = [...preferred, ...all.filter((name) => !preferred.includes(name))].filter(isContentCoding);
  handler.ignore('handler', 'minimum_length', 'match');
  handler.leaveOthers();
  if (codings.length > 0)
    site.setting(scope, handler, 'encodings', (share) =>
      share.set(handler, 'encodings', { compression: codings }),
    );
}

function addHost(share: ImportedShare, table: SourceTable, name: string, host: string): void {
  if (OWN_HOSTS.includes(host)) share.set(table, name, { hostHeader: 'target' });
  else if (CLIENT_HOSTS.includes(host)) share.set(table, name, { hostHeader: 'preserve' });
  else if (host.includes('{'))
    table.remark(name, 'Left out, because hostHeader is preserve, target or a fixed name.');
  else share.set(table, name, { hostHeader: host });
}

/** Hashes of passwords stay in the file of Caddy. A guard of some requests becomes one of all. */
export function addAuthentication({ handler, scope, site }: HandlerPlace): void {
  const providers = handler.table('providers');
  for (const name of providers?.keys ?? []) {
    const accounts = name === 'http_basic' ? (providers!.table(name)?.tables('accounts') ?? []) : [];
    const users = accounts
      .map((account) => account.text('username') ?? '')
      .filter((user) => /^[^:\p{Cc}]{1,255}$/u.test(user));
    if (users.length === 0 || users.length < accounts.length)
      site.guard(providers!, name, 'Caddy asked people to sign in');
    else site.users(handler, users);
  }
  if (providers === undefined || providers.keys.length === 0)
    site.guard(handler, 'providers', 'Caddy asked people to sign in');
  if (!isEverything(scope)) {
    const advice =
      'The guard was for some requests, and is for the whole share: policy.publicPaths has the paths without it.';
    site.onShare(() => handler.remark('', advice));
  }
}
