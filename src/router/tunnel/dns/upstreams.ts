/**
 * All of `dnsUpstream`, and the order in which `dnsUpstreamMode` queries them. The first answer with NOERROR is the
 * answer; without one, the best other answer is: NXDOMAIN, then SERVFAIL, then REFUSED.
 */
import type { TunnelOptions } from '../../config/schema/tunnel-schema.ts';
import { Rcode } from './dns-query.ts';
import { rankOf, rcodeOf, type UpstreamAnswered, type UpstreamQuery } from './upstream-query.ts';
import type { DnsUpstream } from './dns-upstream.ts';

/** Clients give up after this time, so no query waits longer. */
export const UPSTREAM_TIMEOUT_MS = 5_000;
/** In serial modes, each upstream has an equal share of the time, but not less than this. */
const MIN_SHARE_MS = 1_000;
/** After an answer that is not NOERROR, the other upstreams have this time for a better one. */
const BETTER_ANSWER_MS = 500;

export class Upstreams {
  readonly #upstreams: readonly DnsUpstream[];
  readonly #mode: TunnelOptions['dnsUpstreamMode'];
  /** In mode failover, the upstream that answered last. */
  #preferred: DnsUpstream | undefined;

  constructor(upstreams: readonly DnsUpstream[], mode: TunnelOptions['dnsUpstreamMode']) {
    this.#upstreams = upstreams;
    this.#mode = mode;
  }

  get isEmpty(): boolean {
    return this.#upstreams.length === 0;
  }

  start(): void {
    for (const upstream of this.#upstreams) upstream.start();
  }

  /** Calls `answered` once: with undefined if no upstream answers. */
  ask(query: UpstreamQuery, answered: UpstreamAnswered): void {
    const usable = this.#usable();
    if (usable.length === 0) answered(undefined);
    else if (usable.length === 1) usable[0]!.ask(query, UPSTREAM_TIMEOUT_MS, answered);
    else if (this.#mode === 'parallel') askAll(usable, query, answered);
    else this.#askInTurn(usable, query, answered);
  }

  /** Takes notice of a query that arrived here. Returns whether it was the probe of an upstream. */
  noticeQuery(name: string): boolean {
    return this.#upstreams.some((upstream) => upstream.noticeQuery(name));
  }

  close(): void {
    for (const upstream of this.#upstreams) upstream.close();
  }

  /** Returns the upstreams that are up, or else all that are no loop. */
  #usable(): readonly DnsUpstream[] {
    if (this.#upstreams.every(({ isUp }) => isUp)) return this.#upstreams;
    const up = this.#upstreams.filter(({ isUp }) => isUp);
    return up.length > 0 ? up : this.#upstreams.filter(({ isLoop }) => !isLoop);
  }

  #askInTurn(usable: readonly DnsUpstream[], query: UpstreamQuery, answered: UpstreamAnswered): void {
    const first = this.#firstOf(usable);
    const shareMs = Math.max(MIN_SHARE_MS, UPSTREAM_TIMEOUT_MS / usable.length);
    let leftMs = UPSTREAM_TIMEOUT_MS;
    let best: Buffer | undefined;
    const askNext = (turn: number): void => {
      if (turn === usable.length || leftMs <= 0) {
        answered(best);
        return;
      }
      const upstream = usable[(first + turn) % usable.length]!;
      upstream.ask(query, Math.min(shareMs, leftMs), (answer) => {
        best = betterOf(best, answer);
        if (answer === undefined) leftMs -= shareMs;
        if (answer === undefined || rcodeOf(answer) !== Rcode.NoError) askNext(turn + 1);
        else {
          this.#preferred = upstream;
          answered(answer);
        }
      });
    };
    askNext(0);
  }

  #firstOf(usable: readonly DnsUpstream[]): number {
    if (this.#mode === 'random') return Math.floor(Math.random() * usable.length);
    if (this.#mode === 'serial' || this.#preferred === undefined) return 0;
    return Math.max(0, usable.indexOf(this.#preferred));
  }
}

function askAll(upstreams: readonly DnsUpstream[], query: UpstreamQuery, answered: UpstreamAnswered): void {
  let waiting = upstreams.length;
  let best: Buffer | undefined;
  let isDone = false;
  let timer: NodeJS.Timeout | undefined;
  const finish = (): void => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    answered(best);
  };
  for (const upstream of upstreams)
    upstream.ask(query, UPSTREAM_TIMEOUT_MS, (answer) => {
      waiting -= 1;
      if (isDone) return;
      best = betterOf(best, answer);
      if (waiting === 0 || (answer !== undefined && rcodeOf(answer) === Rcode.NoError)) finish();
      else if (answer !== undefined) timer ??= setTimeout(finish, BETTER_ANSWER_MS);
    });
}

function betterOf(best: Buffer | undefined, answer: Buffer | undefined): Buffer | undefined {
  if (best === undefined || answer === undefined) return best ?? answer;
  return rankOf(answer) > rankOf(best) ? answer : best;
}
