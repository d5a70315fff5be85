/** What the routes of Caddy do for one host, gathered until it is clear whether a share comes of it. */
import { parseIpNetwork } from '#domain';
import type { PathAnswer } from '#domain/upstream';
import type { PathRule } from '../host-shares.ts';
import type { ImportedShare } from '../imported-share.ts';
import type { SourceTable } from '../source-table.ts';
import { isEverything, type CaddyScope } from './caddy-scope.ts';

export const CADDY_GUARD = 'caddy-guard';
export const ALL_REQUESTS =
  'Left out, because settings of a share are for all its requests: check whether the service needs it.';

export const NO_ERROR_ROUTES =
  'Responses of a service are never replaced: see upstream.errorPage for those of the gateway.';
export const BEHIND_PROXY = 'Gateways decide it: see the guide to proxies (docs/guide/behind-a-proxy.md).';

export type DraftChange = (share: ImportedShare) => void;

interface SiteRoot {
  readonly table: SourceTable;
  readonly target: string;
  /** Settings of the service. */
  readonly change: DraftChange;
  /** The networks of its clients, if others got another answer. */
  readonly networks?: readonly string[] | undefined;
}

/** What the routes before a handler have set for it. */
export interface CaddyChain {
  /** The path that requests have lost. */
  stripped: string;
  /** The path that requests have been given. */
  base: string;
  /** Folder of file servers. */
  folder: string | undefined;
  isSinglePage: boolean;
}

/** A handler, and what is around it. */
export interface HandlerPlace {
  readonly handler: SourceTable;
  readonly route: SourceTable;
  readonly scope: CaddyScope;
  readonly chain: CaddyChain;
  readonly site: CaddySite;
}

export class CaddySite {
  /** A name, or a pattern; undefined: requests for hosts that no route names. */
  readonly host: string | undefined;
  readonly rules: PathRule[] = [];
  readonly #changes: DraftChange[] = [];
  readonly #answers: SourceTable[] = [];
  /** What may refuse requests. */
  readonly #guards: SourceTable[] = [];
  #root: SiteRoot | undefined;

  constructor(host: string | undefined) {
    this.host = host;
  }

  get root(): SiteRoot | undefined {
    return this.#root;
  }

  /** For the share, in the order of the file. */
  onShare(change: DraftChange): void {
    this.#changes.push(change);
  }

  /** A setting of the share, which cannot be for some requests only. */
  setting(scope: CaddyScope, table: SourceTable, key: string, change: DraftChange): void {
    if (isEverything(scope)) this.onShare(change);
    else table.remark(key, ALL_REQUESTS);
  }

  guard(table: SourceTable, key: string, what: string): void {
    this.#guards.push(table);
    this.onShare((share) => share.guardByHand(table, key, CADDY_GUARD, what));
  }

  users(table: SourceTable, names: readonly string[]): void {
    this.#guards.push(table);
    for (const name of names) this.onShare((share) => share.user(table, '', name));
  }

  /** Requests from elsewhere are refused. */
  allow(table: SourceTable, networks: readonly string[]): void {
    this.#guards.push(table);
    this.onShare((share) => {
      // Two lists would admit clients that are on one of them, and Caddy wants both.
      const isReadable = networks.every((network) => parseIpNetwork(network) !== undefined);
      if (!isReadable || share.policy.ipAllow.length > 0)
        share.guardByHand(table, 'match', CADDY_GUARD, 'Caddy admitted some networks only');
      else for (const network of networks) share.network(table, 'match', 'ipAllow', network);
    });
  }

  deny(table: SourceTable, networks: readonly string[]): void {
    this.#guards.push(table);
    this.onShare((share) => {
      if (networks.every((network) => parseIpNetwork(network) !== undefined))
        for (const network of networks) share.network(table, 'match', 'ipDeny', network);
      else share.guardByHand(table, 'match', CADDY_GUARD, 'Caddy refused some networks');
    });
  }

  answer(table: SourceTable, answer: PathAnswer): void {
    this.#answers.push(table);
    this.onShare((share) => {
      const before = share.upstream.answers ?? [];
      if (before.some(({ path }) => path === answer.path))
        table.remark('', 'Left out, because an earlier route answers the same path.');
      else share.set(table, '', { answers: [...before, answer] });
    });
  }

  /** Requests of the scope reach the service of the other ones: nothing that is in a folder may be shown instead. */
  leftOut(table: SourceTable): void {
    this.onShare((share) => {
      if (share.target.startsWith('file:'))
        share.guardByHand(table, '', CADDY_GUARD, 'Caddy served some files by another service');
    });
  }

  /** For a host without a share. */
  leaveAll(): void {
    if (this.rules.length > 0)
      for (const table of this.#guards)
        table.remark('', 'Left out with the host: guard the share that you make of it by hand.');
    for (const table of this.#answers)
      table.remark(
        '',
        'Left out, because a share needs a service: add the host to domains of a share, or let Caddy answer it.',
      );
  }

  /** Takes a service for the requests of a scope. Its settings are `change`. */
  serve({ handler, scope, chain }: HandlerPlace, target: string, change: DraftChange): void {
    const { path, from } = scope;
    if (scope.isOther === true || scope.notFrom !== undefined || (path !== undefined && from !== undefined)) {
      handler.remark(
        '',
        'Left out, because a share has no such matcher: its requests reach the service of the other ones.',
      );
      this.guard(handler, '', 'Caddy kept some requests from the service by a matcher');
    } else if (path !== undefined) this.#serveBelow(handler, path, target, chain);
    else if (this.#root === undefined) this.#root = { table: handler, target, change, networks: from };
    else if (this.#root.networks !== undefined) {
      const other = from === undefined ? this.#root.table : handler;
      other.remark('', 'Left out, because a share has one service for the clients of all networks.');
      if (from === undefined) this.#root = { table: handler, target, change };
    }
  }

  /** A path of whole segments is a route. */
  #serveBelow(table: SourceTable, path: string, target: string, chain: CaddyChain): void {
    const prefix = path.endsWith('*') ? path.replace(/\/?\*$/, '') : undefined;
    if (prefix === undefined || prefix.includes('*') || !prefix.startsWith('/')) {
      table.remark(
        '',
        'Left out, because a route is a path with everything below it, such as /api: add it to upstream.routes of the share.',
      );
      this.leftOut(table);
      return;
    }
    if (!path.endsWith('/*'))
      table.remark('', `The route is for ${prefix} and everything below it, not for longer names.`);
    this.rules.push({ table, key: '', path: prefix, target, stripPath: chain.stripped !== '' });
  }

  /** Adds everything to the share that was made of the root. */
  complete(share: ImportedShare): void {
    const { table, networks, change } = this.#root!;
    if (networks !== undefined) this.allow(table, networks);
    for (const each of this.#changes) each(share);
    change(share);
  }
}
