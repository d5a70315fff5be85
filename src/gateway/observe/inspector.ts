/**
 * Records requests of shares whose owner enabled it, in a bounded amount of memory. Of refused requests a few per
 * second are recorded, without a body: the failure records have all of them, and admitted requests are not
 * displaced.
 */
import type { GatewayProvider, GatewayShare, InspectedRequest } from '#domain/gateway-shapes';
import type { Failure } from '../answers/failure-table.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { RequestObserver, RequestRecord } from '../exchange/request-record.ts';
import { InspectionTap } from './inspection-tap.ts';
import { redactedTarget, type SecretNames } from './redaction.ts';
import { identityTextOf, timingsOf, traceIdOf, unixMsOf } from './request-facts.ts';

export interface InspectorOptions {
  readonly add: (inspected: InspectedRequest) => void;
  /** Provides the places of API keys, which are never recorded. */
  readonly provider: (id: string) => GatewayProvider | undefined;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  /** Limit for the memory of all recordings. */
  readonly maxHeldBytes?: number;
  /** Limit for concurrent recordings of one share. */
  readonly maxPerShare?: number;
}

const MAX_HELD_BYTES = 32 * 1_048_576;
const MAX_PER_SHARE = 200;
/** Limit for all shares together. */
const MAX_REFUSED_PER_SECOND = 20;
const MAX_TARGET = 8_192;

interface Followed {
  readonly tap: InspectionTap;
  readonly share: GatewayShare;
  readonly target: string;
}

export class Inspector implements RequestObserver {
  readonly #options: InspectorOptions;
  readonly #maxHeldBytes: number;
  readonly #maxPerShare: number;
  readonly #followed = new Map<RequestRecord, Followed>();
  readonly #perShare = new Map<string, number>();
  #heldBytes = 0;
  #skipped = 0;
  #refused = 0;
  #refusedSinceMs = 0;

  constructor(options: InspectorOptions) {
    this.#options = options;
    this.#maxHeldBytes = options.maxHeldBytes ?? MAX_HELD_BYTES;
    this.#maxPerShare = options.maxPerShare ?? MAX_PER_SHARE;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Number of requests that could not be recorded, because there were too many or they were too large. */
  get skipped(): number {
    return this.#skipped;
  }

  began(record: RequestRecord, head: RequestHead): void {
    const share = record.route?.share;
    const asked = share?.inspection;
    if (share === undefined || asked === null || asked === undefined) return;
    if (asked.untilMs <= this.#options.nowMs()) return;
    const count = this.#perShare.get(share.id) ?? 0;
    if (count >= this.#maxPerShare || this.#heldBytes >= this.#maxHeldBytes) {
      this.#skipped += 1;
      return;
    }
    const changes = record.admission?.changes;
    const secrets = this.#secretsOf(record);
    const tap = new InspectionTap({
      maxBodyBytes: asked.maxBodyBytes,
      fields: head.fields,
      omitted: changes?.omitted ?? [],
      secrets,
      allow: (bytes) => Math.max(0, Math.min(bytes, this.#maxHeldBytes - this.#heldBytes)),
      onHeld: (bytes) => (this.#heldBytes += bytes),
    });
    record.tap = tap;
    const target = redactedTarget((changes?.target ?? head.target).slice(0, MAX_TARGET), secrets);
    this.#followed.set(record, { tap, share, target });
    this.#perShare.set(share.id, count + 1);
  }

  refused(record: RequestRecord, head: RequestHead): void {
    const nowMs = this.#options.nowMs();
    if (Math.abs(nowMs - this.#refusedSinceMs) >= 1_000) {
      this.#refusedSinceMs = nowMs;
      this.#refused = 0;
    }
    if (this.#refused >= MAX_REFUSED_PER_SECOND) return;
    this.began(record, head);
    if (this.#followed.has(record)) this.#refused += 1;
  }

  served(record: RequestRecord): void {
    this.#finish(record, null);
  }

  failed(record: RequestRecord, { code, hop, cause }: Failure): void {
    this.#finish(record, { code, hop, cause });
  }

  gone(record: RequestRecord): void {
    this.#finish(record, { code: 'client-gone', hop: 'client', cause: 'the client disconnected' });
  }

  flush(): void {}

  #finish(record: RequestRecord, failure: InspectedRequest['failure']): void {
    const followed = this.#followed.get(record);
    if (followed === undefined) return;
    const { tap, share, target } = followed;
    this.#followed.delete(record);
    record.tap = undefined;
    this.#heldBytes -= tap.heldBytes;
    const count = this.#perShare.get(share.id)! - 1;
    if (count === 0) this.#perShare.delete(share.id);
    else this.#perShare.set(share.id, count);
    const { id, client, method, host, status, decision } = record;
    this.#options.add({
      id,
      replayOf: null,
      at: unixMsOf(record.startedMs),
      shareId: share.id,
      frontdoorId: share.frontdoorId,
      method,
      host,
      target,
      client: client.address,
      identity: identityTextOf(record),
      decision,
      status,
      failure,
      traceId: traceIdOf(record) || null,
      timings: timingsOf(record),
      ...tap.messages(),
    });
  }

  #secretsOf(record: RequestRecord): SecretNames {
    const headers: string[] = [];
    const parameters: string[] = [];
    const { authProviderIds, customHosts } = record.route!.share;
    for (const id of [...authProviderIds, ...customHosts.flatMap((custom) => custom.authProviderIds)]) {
      const keys = this.#options.provider(id)?.apiKeys;
      if (keys?.placement === 'header') headers.push(keys.name.toLowerCase().replaceAll('_', '-'));
      else if (keys?.placement === 'query') parameters.push(keys.name.toLowerCase());
    }
    return { headers, parameters };
  }
}
