/** Sends lines to the collector: by HTTP, which acknowledges them, or by syslog over TCP, which only ends the connection. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { bareHost, FrontdoorError, messageOf } from '#base';
import { EgressClient, writeToEgress, type EgressRules } from '#net';
import type { EventExport } from './event-export-store.ts';
import { jsonLines, syslogBytes, type EventLine } from './event-line.ts';

const compressed = promisify(gzip);
const TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 65_536;
const MAX_PROBLEM_CHARS = 300;

export type CollectorEgress = EgressRules & { readonly ca?: string | undefined };

export class EventCollector {
  readonly #egress: CollectorEgress;
  readonly #client: EgressClient;

  constructor(egress: CollectorEgress) {
    this.#egress = egress;
    this.#client = new EgressClient({ ...egress, timeoutMs: TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES });
  }

  /** Returns why they were not accepted, or undefined. `host` names this installation. Never rejects. */
  async send(
    to: EventExport,
    lines: readonly EventLine[],
    host: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    try {
      const url = new URL(to.url);
      if (url.protocol === 'tls:' || url.protocol === 'tcp:') {
        const isTls = url.protocol === 'tls:';
        const target = { host: bareHost(url.hostname), port: Number(url.port), isTls };
        const options = { ...this.#egress, timeoutMs: TIMEOUT_MS };
        await writeToEgress(target, syslogBytes(lines, host), options, signal);
        return undefined;
      }
      return await this.#post(to, jsonLines(lines), signal);
    } catch (error) {
      const problem = error instanceof FrontdoorError ? error.message : messageOf(error);
      return problem.slice(0, MAX_PROBLEM_CHARS);
    }
  }

  async #post(to: EventExport, text: string, signal: AbortSignal): Promise<string | undefined> {
    const { status } = await this.#client.send({
      method: 'POST',
      url: to.url,
      headers: {
        'content-type': 'application/x-ndjson',
        'user-agent': 'Frontdoor-Events/1',
        ...(to.isCompressed ? { 'content-encoding': 'gzip' } : {}),
        ...(to.secret === null ? {} : { [to.header]: to.secret }),
      },
      body: to.isCompressed ? await compressed(text) : text,
      signal,
    });
    return status >= 200 && status < 300 ? undefined : `the collector answered ${status}`;
  }
}
