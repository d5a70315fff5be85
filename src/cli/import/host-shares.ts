/** Shares by host name, where a file has one rule for each path of a host: rules with a path become routes of its share. */
import { parsePathPrefix } from '#domain';
import type { ImportedShare } from './imported-share.ts';
import type { SourceTable } from './source-table.ts';

export interface PathRule {
  readonly table: SourceTable;
  /** The key that has the path. */
  readonly key: string;
  readonly path: string;
  readonly target: string;
  readonly stripPath?: boolean;
  /** Adds what the rule demands of all requests. */
  readonly onShare?: ((share: ImportedShare) => void) | undefined;
}

export class HostShares {
  readonly #shares = new Map<string, ImportedShare>();
  readonly #rules: (readonly [host: string, rule: PathRule])[] = [];

  has(host: string): boolean {
    return this.#shares.has(host);
  }

  add(host: string, share: ImportedShare): void {
    this.#shares.set(host, share);
  }

  addRule(host: string, rule: PathRule): void {
    this.#rules.push([host, rule]);
  }

  /** `makeRoot` makes the share of a host that has rules with paths only, or returns undefined. */
  all(makeRoot: (host: string, rule: PathRule) => ImportedShare | undefined): readonly ImportedShare[] {
    for (const [host, rule] of this.#rules) {
      const share = this.#shares.get(host) ?? makeRoot(host, rule);
      if (share === undefined) {
        rule.table.remark(
          rule.key,
          'Left out, because no rule is for the other paths of this host: add a share with a target for them, and this path to its upstream.routes.',
        );
        continue;
      }
      this.#shares.set(host, share);
      rule.onShare?.(share);
      addRoute(share, rule);
    }
    return [...this.#shares.values()];
  }
}

function addRoute(share: ImportedShare, { table, key, path, target, stripPath = false }: PathRule): void {
  const prefix = parsePathPrefix(path);
  if (prefix === undefined || prefix === '')
    table.remark(
      key,
      'Left out, because a route has a path of whole segments such as /api: add it to upstream.routes of the share.',
    );
  else if ((share.upstream.routes ?? []).some((route) => route.path === prefix))
    table.remark(key, 'Left out, because an earlier rule has the same path.');
  else share.route(table, key, stripPath ? { path: prefix, target, stripPath } : { path: prefix, target });
}

/** The first label of a host name, which shares are named by. */
export function labelOf(host: string): string {
  return host.replace(/^\*\./, '').split('.', 1)[0]!;
}
