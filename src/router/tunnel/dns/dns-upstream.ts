/**
 * One of `dnsUpstream`: sends queries to it with a time limit, and notices when it is down and when it is a loop. An upstream
 * that is down gets no queries of clients while another one is up, only probes until it answers one. A probe is a query
 * for a random name: if it arrives at this name server, the upstream forwards to this name server, and is not used.
 */
import { lookup } from 'node:dns/promises';
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { BackOff, formatHostPort, type Log } from '#base';
import type { UpstreamConfig } from '../../config/schema/tunnel-schema.ts';
import { HEADER_BYTES } from './dns-query.ts';
import { encodeName, PROBE_DOMAIN } from './host-name-codec.ts';
import { TcpUpstream } from './tcp-upstream.ts';
import { UdpUpstream } from './udp-upstream.ts';
import { isTruncated, type UpstreamAnswered, type UpstreamQuery } from './upstream-query.ts';

/** A query over UDP without an answer is sent once more after this time. */
const RESEND_MS = 1_500;
/** After this number of failures in a row, an upstream is down. */
const MAX_FAILURES = 3;
const PROBE_DELAYS = { minMs: 1_000, maxMs: 30_000, factor: 2 };
const PROBE_TIMEOUT_MS = 2_000;
const LOOP_CHECK_MS = 60_000;
/** Maximum queries that wait for one upstream. */
const MAX_ASKED = 4_096;
const RANDOM_NAME_BYTES = 8;
const FLAG_RECURSION_DESIRED = 0x01;
const TYPE_TXT = 16;
const CLASS_IN = 1;

type State = 'up' | 'down' | 'loop';

export interface DnsUpstreamOptions {
  readonly config: UpstreamConfig;
  /** Place of the option, for messages: file, line and key. */
  readonly place: string;
  readonly log: Log;
}

export class DnsUpstream {
  readonly #options: DnsUpstreamOptions;
  readonly #probeDelays = new BackOff(PROBE_DELAYS);
  readonly #cancels = new Set<() => void>();
  #udp: UdpUpstream | undefined;
  #tcp: TcpUpstream | undefined;
  #state: State = 'up';
  #failures = 0;
  /** The name of the last probe, as a wire name. */
  #probeName = '';
  #hasProbeReturned = false;
  #probeTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: DnsUpstreamOptions) {
    this.#options = options;
    this.#open(options.config.host);
  }

  /** Sends the first probe. Before, this name server has to listen. */
  start(): void {
    void this.#probe();
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  get isLoop(): boolean {
    return this.#state === 'loop';
  }

  /** Sends a query. `answered` is called once: with undefined if there is no answer within the time. */
  ask(query: UpstreamQuery, timeoutMs: number, answered: UpstreamAnswered): void {
    this.#ask(query, timeoutMs, (answer) => {
      if (answer !== undefined) this.#noticeAnswer();
      else this.#noticeFailure();
      answered(answer);
    });
  }

  /** Takes notice of a query that arrived at this name server. Returns whether it is the probe of this upstream. */
  noticeQuery(name: string): boolean {
    if (name !== this.#probeName) return false;
    this.#hasProbeReturned = true;
    if (this.#state !== 'loop') {
      const { place } = this.#options;
      const text = 'an upstream forwards queries to this name server, so it is not used';
      this.#options.log.error({ option: place, upstream: this.#name }, text);
    }
    this.#state = 'loop';
    return true;
  }

  /** Ends all queries without an answer. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#probeTimer);
    this.#udp?.close();
    this.#tcp?.close();
    for (const cancel of this.#cancels) cancel();
  }

  get #name(): string {
    const { protocol, host, port } = this.#options.config;
    return `${protocol}://${formatHostPort(host, port)}`;
  }

  /** Opens nothing if the host is a name, which the first probe resolves. */
  #open(address: string): void {
    if (isIP(address) === 0) return;
    const { protocol, port } = this.#options.config;
    if (protocol === 'udp') this.#udp = new UdpUpstream(address, port);
    this.#tcp = new TcpUpstream(address, port);
  }

  #ask(query: UpstreamQuery, timeoutMs: number, answered: UpstreamAnswered): void {
    const udp = this.#udp;
    const tcp = this.#tcp;
    if (this.#isClosed || tcp === undefined || this.#cancels.size >= MAX_ASKED) {
      answered(undefined);
      return;
    }
    const leaves: (() => void)[] = [];
    /** What there is when the time is over. */
    let partial: Buffer | undefined;
    let resendTimer: NodeJS.Timeout | undefined;
    const settle = (answer: Buffer | undefined): void => {
      if (!this.#cancels.delete(cancel)) return;
      clearTimeout(timer);
      clearTimeout(resendTimer);
      for (const leave of leaves) leave();
      answered(answer ?? partial);
    };
    const cancel = (): void => settle(undefined);
    const timer = setTimeout(cancel, timeoutMs);
    this.#cancels.add(cancel);
    if (udp === undefined) {
      leaves.push(tcp.ask(query, settle));
      return;
    }
    const receive: UpstreamAnswered = (answer) => {
      // The answer over TCP decides.
      if (partial !== undefined) return;
      if (answer === undefined || !query.isStream || !isTruncated(answer)) {
        settle(answer);
        return;
      }
      partial = answer;
      clearTimeout(resendTimer);
      leaves.push(tcp.ask(query, settle));
    };
    leaves.push(udp.ask(query, receive));
    if (timeoutMs > RESEND_MS)
      resendTimer = setTimeout(() => leaves.push(udp.ask(query, receive)), RESEND_MS);
  }

  #noticeAnswer(): void {
    this.#failures = 0;
    if (this.#state !== 'down') return;
    this.#state = 'up';
    this.#options.log.info({ upstream: this.#name }, 'an upstream answers again');
  }

  #noticeFailure(): void {
    this.#failures += 1;
    if (this.#failures < MAX_FAILURES || this.#state !== 'up' || this.#isClosed) return;
    this.#state = 'down';
    const { place, log } = this.#options;
    log.warn({ option: place, upstream: this.#name }, 'an upstream does not answer');
    this.#probeDelays.reset();
    this.#probeLater(this.#probeDelays.next());
  }

  #probeLater(delayMs: number): void {
    clearTimeout(this.#probeTimer);
    if (!this.#isClosed) this.#probeTimer = setTimeout(() => void this.#probe(), delayMs);
  }

  async #probe(): Promise<void> {
    const { host } = this.#options.config;
    if (isIP(host) === 0) await this.#resolve(host);
    if (this.#isClosed) return;
    this.#hasProbeReturned = false;
    const query = newProbe();
    this.#probeName = query.name;
    this.#ask(query, PROBE_TIMEOUT_MS, (answer) => {
      if (this.#state === 'loop' && !this.#hasProbeReturned && answer !== undefined) {
        this.#state = 'up';
        this.#options.log.info({ upstream: this.#name }, 'an upstream no longer forwards queries back');
      }
      if (answer === undefined) this.#noticeFailure();
      else this.#noticeAnswer();
      if (this.#state === 'loop') this.#probeLater(LOOP_CHECK_MS);
      else if (answer === undefined) this.#probeLater(this.#probeDelays.next());
      else this.#probeDelays.reset();
    });
  }

  async #resolve(host: string): Promise<void> {
    const found = await lookup(host).catch(() => undefined);
    if (found === undefined || this.#isClosed) return;
    this.#udp?.close();
    this.#tcp?.close();
    this.#open(found.address);
  }
}

function newProbe(): UpstreamQuery & { readonly name: string } {
  const label = randomBytes(RANDOM_NAME_BYTES).toString('hex');
  const name = encodeName(`${label}.${PROBE_DOMAIN}`)!;
  const head = Buffer.alloc(HEADER_BYTES);
  head[2] = FLAG_RECURSION_DESIRED;
  head[5] = 1;
  const message = Buffer.concat([
    head,
    Buffer.from(name, 'latin1'),
    Buffer.from([0, 0, TYPE_TXT, 0, CLASS_IN]),
  ]);
  return { message, questionEnd: message.length, isStream: false, name };
}
