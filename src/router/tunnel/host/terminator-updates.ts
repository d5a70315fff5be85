/**
 * Sends cost and precedence of hosted terminators to controllers (20408) when health checks change them. Only the latest
 * values are sent, one request at a time for each terminator; a request that fails is repeated.
 */
import { messageOf, type Log } from '#base';
import { CHANNEL_HEADERS, contentType, HeaderWriter, headerId, makeFrame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { Controller, Controllers } from '../../ctrl/controllers.ts';
import type { TerminatorValues } from '#sdk/hosting';
import { precedenceOf, type HostedTerminator } from './hosted-terminator.ts';

export interface TerminatorUpdatesOptions {
  readonly controllers: Controllers;
  readonly requestTimeoutMs: number;
  readonly log: Log;
}

interface Entry {
  readonly terminator: HostedTerminator;
  /** The values that controllers have; undefined if these are not known, `none` before the first request. */
  sent: TerminatorValues | 'none' | undefined;
  isBusy: boolean;
  timer: NodeJS.Timeout | undefined;
}

const RETRY_MS = 5_000;
const { terminatorId, checkPassed } = headerId.edgeCtrl;

export class TerminatorUpdates {
  readonly #options: TerminatorUpdatesOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: TerminatorUpdatesOptions) {
    this.#options = options;
  }

  /** `isKept`: an earlier process may have created the terminator with other values. */
  add(terminator: HostedTerminator, isKept: boolean): void {
    const sent = isKept ? undefined : 'none';
    this.#entries.set(terminator.id, { terminator, sent, isBusy: false, timer: undefined });
  }

  /** A controller that creates the terminator now has its current values. One that knows it keeps those it has. */
  onRequested({ id, values }: HostedTerminator): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    if (entry.sent === 'none') entry.sent = values;
    else if (!areEqual(entry)) entry.sent = undefined;
  }

  delete(id: string): void {
    clearTimeout(this.#entries.get(id)?.timer);
    this.#entries.delete(id);
  }

  /** Sends the values unless controllers have them. Called after changes, and when a controller has the terminator. */
  push(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.sent === 'none' || entry.isBusy || entry.timer !== undefined) return;
    void this.#send(entry);
  }

  /** Reports the result of a health check. Controllers keep no state of it, so that it is sent once. */
  sendEvent(id: string, passed: boolean): void {
    const headers = new HeaderWriter().text(terminatorId, id).bool(checkPassed, passed);
    this.#options.controllers.best()?.channel.send(makeFrame(contentType.tunnelHealthEvent, { headers }));
  }

  close(): void {
    for (const id of [...this.#entries.keys()]) this.delete(id);
  }

  async #send(entry: Entry): Promise<void> {
    const { id } = entry.terminator;
    entry.isBusy = true;
    let problem: string | undefined;
    while (problem === undefined && this.#entries.get(id) === entry && !areEqual(entry)) {
      const controller = this.#options.controllers.best();
      // The next controller creates the terminator again, and then gets its values.
      if (controller === undefined) break;
      const { values } = entry.terminator;
      problem = await this.#request(controller, id, values);
      if (problem === undefined) entry.sent = values;
    }
    entry.isBusy = false;
    if (problem === undefined || this.#entries.get(id) !== entry) return;
    this.#options.log.warn({ terminator: id, err: problem }, 'cost and precedence not updated');
    entry.timer = setTimeout(() => {
      entry.timer = undefined;
      this.push(id);
    }, RETRY_MS);
  }

  /** Returns the reason of a failure. */
  async #request({ channel }: Controller, id: string, values: TerminatorValues): Promise<string | undefined> {
    const { cost } = values;
    const precedence = precedenceOf(values);
    const update = { terminatorId: id, cost, precedence, updateCost: true, updatePrecedence: true };
    try {
      const request = ctrlMessages.updateTunnelTerminator.frame(update);
      const answer = await channel.request(request, this.#options.requestTimeoutMs);
      if (answer.contentType === contentType.updateTunnelTerminatorResponse) return undefined;
      if (answer.headers.bool(CHANNEL_HEADERS.resultSuccess)) return undefined;
      return 'the controller refused';
    } catch (error) {
      return messageOf(error);
    }
  }
}

function areEqual({ terminator: { values }, sent }: Entry): boolean {
  if (sent === undefined || sent === 'none') return false;
  return sent.cost === values.cost && sent.precedence === values.precedence;
}
