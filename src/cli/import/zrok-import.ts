/** The share of the service zrok-share, from its variables. */
import type { ImportFormat } from './import-format.ts';
import { ANY_CERTIFICATE, ImportedShare, NO_TOKEN, type ImportDraft } from './imported-share.ts';
import type { SourceTable } from './source-table.ts';

/** The auth provider instead of guards that cannot be carried over. */
const ZROK_GUARD = 'zrok-sign-in';
const TARGET = 'ZROK_TARGET';
const MODE = 'ZROK_BACKEND_MODE';
const NO_SHARE: Readonly<Record<string, string>> = {
  caddy: 'The share is in a Caddyfile: import that file ("frontdoor import Caddyfile").',
  drive: 'Frontdoor has no WebDAV server: share one that runs on this machine, or the folder with mode web.',
  socks: 'Frontdoor has no SOCKS shares: make a private share for each service.',
  vpn: 'Frontdoor has no VPN: make a private share for each service.',
};
/** Options of `zrok share` and `zrok reserve` that refuse requests. */
const GUARD_OPTION = /--(?:basic-auth|oauth|closed|access-grant)/;

export const zrokImport: ImportFormat = {
  product: 'zrok',
  isOf: (keys) => [...keys].some((key) => key.startsWith('ZROK_')),
  draftOf,
};

function draftOf(root: SourceTable): ImportDraft {
  root.ignore('ZROK_VERBOSE', 'ZROK_SHARE_RESERVED', 'ZROK_INSTANCE', 'ZROK_ENVIRONMENT_NAME');
  root.leave('ZROK_ENABLE_TOKEN', NO_TOKEN);
  root.leave('ZROK_API_ENDPOINT', 'The agent is enrolled at a control plane of Frontdoor instead.');
  const share = shareOf(root);
  if (share !== undefined) {
    addGuards(share, root);
    if (root.text('ZROK_INSECURE') !== undefined) {
      share.set(root, 'ZROK_INSECURE', { tlsInsecure: true });
      root.remark('ZROK_INSECURE', ANY_CERTIFICATE);
    }
    addOptions(share, root);
    root.leaveOthers();
  }
  return { shares: share === undefined ? [] : [share], accesses: [], intro: [] };
}

function shareOf(root: SourceTable): ImportedShare | undefined {
  const backend = root.text(MODE) ?? 'proxy';
  const reason = Object.hasOwn(NO_SHARE, backend) ? NO_SHARE[backend] : undefined;
  if (reason !== undefined) {
    root.remark(MODE, reason);
    return undefined;
  }
  const target = targetOf(backend, root);
  if (target === undefined) return undefined;
  const isPrivate = (root.text('ZROK_FRONTEND_MODE') ?? 'reserved-public').endsWith('-private');
  const name = root.text('ZROK_UNIQUE_NAME') ?? 'share';
  return new ImportedShare(root, { name, mode: isPrivate ? 'private' : 'public', target });
}

function targetOf(backend: string, root: SourceTable): string | undefined {
  const target = root.text(TARGET);
  const tunnel = { tcpTunnel: 'tcp', udpTunnel: 'udp' }[backend];
  const problem = (text: string): undefined => {
    root.notes.problem(target === undefined ? [] : root.at(TARGET), text);
  };
  if (target === undefined) return problem(`must have ${TARGET}: the address of the service`);
  if (tunnel !== undefined) return `${tunnel}://${target}`;
  if (backend === 'web')
    return target.startsWith('/') ? `file://${target}` : problem('must be an absolute path for mode web');
  if (backend !== 'proxy') {
    root.remark(MODE, 'Frontdoor has no such mode: make the share by hand.');
    return undefined;
  }
  if (!/^https?:\/\//.test(target)) return problem('must be a URL such as http://127.0.0.1:3000');
  return target.replace(/\/$/, '');
}

/** As zrok, takes users only where there is no other sign-in. */
function addGuards(share: ImportedShare, root: SourceTable): void {
  const grants = 'Add grants for the environments that dial the share.';
  if (share.mode === 'private') {
    root.remark('ZROK_FRONTEND_MODE', grants);
    for (const key of ['ZROK_PERMISSION_MODE', 'ZROK_ACCESS_GRANTS']) root.leave(key, grants);
  } else root.ignore('ZROK_FRONTEND_MODE', 'ZROK_PERMISSION_MODE', 'ZROK_ACCESS_GRANTS');
  const emails = (root.text('ZROK_OAUTH_EMAILS') ?? '').split(/\s+/).filter(Boolean);
  if (root.text('ZROK_OAUTH_PROVIDER') !== undefined) {
    share.guardByHand(root, 'ZROK_OAUTH_PROVIDER', ZROK_GUARD, 'the sign-in of zrok');
    for (const email of emails) share.email(root, 'ZROK_OAUTH_EMAILS', email);
    root.ignore('ZROK_BASIC_AUTH');
  } else share.credentials(root, 'ZROK_BASIC_AUTH');
}

function addOptions(share: ImportedShare, root: SourceTable): void {
  const key = 'ZROK_SHARE_OPTS';
  const options = root.text(key);
  if (options === undefined) return;
  if (GUARD_OPTION.test(options))
    share.guardByHand(root, key, ZROK_GUARD, 'options of zrok that refuse requests');
  else root.remark(key, 'Options of zrok are not carried over: see "frontdoor agent share --help".');
}
