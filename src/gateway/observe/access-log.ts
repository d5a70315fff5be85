/**
 * Writes one line of JSON for each request, or connection to a port, when it ends, or when an upgrade is granted. The query is left out,
 * because it may contain secrets. Lines that cannot be written in time are dropped and counted; requests never
 * wait for the log.
 */
import type { Failure } from '../answers/failure-table.ts';
import { PORT_METHODS, type RequestObserver, type RequestRecord } from '../exchange/request-record.ts';
import { LineBuffer } from './line-buffer.ts';
import { LineFile, type LineFileOptions } from './line-file.ts';
import { pathOf, unixMsOf } from './request-facts.ts';

export class AccessLog implements RequestObserver {
  readonly #file: LineFile;
  readonly #line: LineBuffer;
  #second = -1;
  /** The time of that second, as `2026-11-21T21:10:05.`. */
  #secondText = '';

  /** @throws FrontdoorError `cannot-open-log` */
  constructor(options: LineFileOptions) {
    this.#file = new LineFile(options);
    this.#line = new LineBuffer((piece, lines) => this.#file.add(piece, lines));
  }

  /** Lines that were not written because of a full disk or a slow reader. */
  get dropped(): number {
    return this.#file.dropped;
  }

  began(): void {}

  refused(): void {}

  served(record: RequestRecord): void {
    this.#begin(record, 'served');
    this.#end();
  }

  failed(record: RequestRecord, { code, hop, cause }: Failure): void {
    const line = this.#line;
    this.#begin(record, outcomeOf(record));
    line.text(',"code":"');
    line.text(code);
    line.text('","hop":"');
    line.text(hop);
    line.text('","cause":');
    line.quoted(cause);
    this.#end();
  }

  gone(record: RequestRecord): void {
    this.#begin(record, 'client gone');
    this.#end();
  }

  flush(): void {
    this.#line.flush();
  }

  /** Reopens the file after it was moved away. */
  reopen(): void {
    this.#line.flush();
    this.#file.reopen();
  }

  close(timeoutMs: number): Promise<void> {
    this.#line.flush();
    return this.#file.close(timeoutMs);
  }

  #begin(record: RequestRecord, outcome: string): void {
    const { client, route } = record;
    const line = this.#line;
    line.text('{"time":"');
    this.#time(record.startedMs);
    line.text('","request":"');
    line.text(record.id);
    line.text('","outcome":"');
    line.text(outcome);
    line.text('","status":');
    line.number(record.status);
    line.text(',"method":"');
    line.text(record.method);
    line.text('","host":');
    line.quoted(record.host);
    line.text(',"path":');
    line.quoted(pathOf(record.target));
    line.text(',"client":"');
    line.text(client.address);
    line.text(client.isSecure ? '","tls":true' : '","tls":false');
    if (!isOfPort(record)) line.text(`,"http":"${versionOf(record)}"`);
    line.text(',"decision":');
    line.quoted(record.decision);
    line.text(',"bytesIn":');
    line.number(record.bytesIn);
    line.text(',"bytesOut":');
    line.number(record.bytesOut);
    if (route !== undefined) {
      line.text(',"share":');
      line.quoted(route.share.token);
      line.text(',"frontdoor":');
      line.quoted(route.share.frontdoorId);
    }
    if (record.identity !== undefined) this.#identity(record.identity);
    if (record.traceParent !== '') {
      line.text(',"trace":"');
      line.text(record.traceParent.slice(3, 35));
      line.text('"');
    }
    this.#timing(',"decidedMs":', record.decidedMs, record.startedMs);
    this.#timing(',"circuitMs":', record.circuitMs, record.startedMs);
    this.#timing(',"firstByteMs":', record.firstByteMs, record.startedMs);
    this.#timing(',"doneMs":', record.doneMs, record.startedMs);
  }

  #identity({ subject, email, providerId }: NonNullable<RequestRecord['identity']>): void {
    const line = this.#line;
    line.text(',"identity":');
    line.quoted(subject);
    if (email !== null) {
      line.text(',"email":');
      line.quoted(email);
    }
    if (providerId === null) return;
    line.text(',"provider":');
    line.quoted(providerId);
  }

  #timing(name: string, atMs: number, startedMs: number): void {
    if (atMs === 0) return;
    this.#line.text(name);
    this.#line.decimals(atMs - startedMs);
  }

  #time(monotonicMs: number): void {
    const ms = unixMsOf(monotonicMs);
    const second = Math.floor(ms / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = new Date(second * 1_000).toISOString().slice(0, 20);
    }
    this.#line.text(this.#secondText);
    this.#line.threeDigits(ms - second * 1_000);
    this.#line.text('Z');
  }

  #end(): void {
    this.#line.text('}\n');
    this.#line.endLine();
  }
}

/** Returns the outcome: a page for a refused caller, a page for a failure, or a cut response. */
function outcomeOf(record: RequestRecord): string {
  if (record.isBrokenOff) return 'broken off';
  return record.admission === undefined ? 'refused' : 'failed';
}

function versionOf({ client, isHttp10 }: RequestRecord): string {
  if (client.isHttp2 === true) return '2';
  return isHttp10 ? '1.0' : '1.1';
}

function isOfPort({ method }: RequestRecord): boolean {
  return method === PORT_METHODS.tcp || method === PORT_METHODS.udp;
}
