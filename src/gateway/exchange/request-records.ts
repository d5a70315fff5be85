/** Opens the record of each request. Ids are short, unique among all gateways, and say nothing. */
import { randomBytes } from 'node:crypto';
import { TRACE_PARENT } from '../http/field-name-table.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import { RequestRecord } from './request-record.ts';
import type { ClientFacts } from '../shares/route-decision.ts';

/** W3C Trace Context: version, trace id, parent id, flags; no id is all zeros. */
const TRACE_CONTEXT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

export class RequestRecords {
  /** 72 random bits: each process has its own ids. */
  readonly #prefix = randomBytes(9).toString('hex');
  #count = 0;

  open(client: ClientFacts, head: RequestHead): RequestRecord {
    return new RequestRecord(this.nextId(), client, head, traceParentOf(head));
  }

  nextId(): string {
    this.#count += 1;
    return `${this.#prefix}${this.#count.toString(16).padStart(6, '0')}`;
  }
}

function traceParentOf({ fields }: RequestHead): string {
  let found = '';
  for (let i = 0; i < fields.count; i += 1) {
    if (fields.code[i] !== TRACE_PARENT) continue;
    // Two of them are none.
    if (found !== '') return '';
    found = fields.value(i);
  }
  return TRACE_CONTEXT.test(found) ? found : '';
}
