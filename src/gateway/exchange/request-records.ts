/**
 * Creates the record of each request. Ids are random, so that they are unique among all gateways, cannot be
 * guessed, and reveal no counts.
 */
import { randomFillSync } from 'node:crypto';
import { TRACE_PARENT } from '../http/field-name-table.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import { manyCookies } from '../answers/cookie-bomb.ts';
import { RequestRecord, PORT_METHODS } from './request-record.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';

/** W3C Trace Context: version, trace id, parent id, flags. No id is all zeros. */
const TRACE_CONTEXT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** 96 random bits, as 24 hex digits. */
const ID_BYTES = 12;
/** Random bytes are drawn for this many requests at a time. */
const IDS_AT_ONCE = 512;

export class RequestRecords {
  readonly #random = Buffer.alloc(ID_BYTES * IDS_AT_ONCE);
  #used = this.#random.length;

  open(client: ClientFacts, head: RequestHead): RequestRecord {
    const record = new RequestRecord(this.nextId(), client, head, traceParentOf(head));
    record.cookies = manyCookies(head);
    return record;
  }

  /** `host`: the name with which clients find the share. */
  openPort(client: ClientFacts, host: string, protocol: keyof typeof PORT_METHODS): RequestRecord {
    return new RequestRecord(
      this.nextId(),
      client,
      { method: PORT_METHODS[protocol], target: '', host, http10: false },
      '',
    );
  }

  nextId(): string {
    if (this.#used === this.#random.length) {
      randomFillSync(this.#random);
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += ID_BYTES;
    return this.#random.toString('hex', from, this.#used);
  }
}

function traceParentOf({ fields }: RequestHead): string {
  let found = '';
  for (let i = 0; i < fields.count; i += 1) {
    if (fields.code[i] !== TRACE_PARENT) continue;
    // A repeated header counts as absent.
    if (found !== '') return '';
    found = fields.value(i);
  }
  return TRACE_CONTEXT.test(found) ? found : '';
}
