/**
 * Registers terminators with every controller and keeps them registered: each creation is repeated until it is answered,
 * again after a refusal, and again after the controller reconnects, because it may have missed changes. A controller
 * creates a terminator once, however often it is asked.
 */
import type { Log, WorkerPool } from '#base';
import type { Frame } from '#wire';
import { CreateTerminatorResult } from '#wire/ctrl';
import type { Controller, Controllers } from '../ctrl/controllers.ts';
import type { CreationProgress } from './terminator-inspection.ts';

/** A controller's answer to a creation. */
export interface CreationAnswer {
  readonly terminatorId: string;
  readonly result: CreateTerminatorResult;
  readonly msg: string;
  readonly retryHint: number;
}

export interface TerminatorCreationsOptions<T> {
  readonly log: Log;
  /** Time limit for a controller's answer. After that, the request is repeated. */
  readonly requestTimeoutMs: number;
  readonly controllers: Controllers;
  /** The pool of `forwarder.rateLimited*`, which limits the creations with pending answers. */
  readonly pool: WorkerPool;
  /** Returns the request. Called for each attempt. */
  frameOf(terminator: T): Frame;
  /** Returns the time until the next attempt, or undefined to give up. `failures` counts all refusals but `busy`. */
  retryMs(failures: number, answer: CreationAnswer): number | undefined;
  onAccepted(terminator: T, from: Controller): void;
  /** All connected controllers have refused, and none is asked again. The terminator is no longer registered. */
  onRefused(terminator: T, reason: string): void;
}

/** The state of one terminator at one controller. */
interface Attempt {
  state: 'asked' | 'accepted' | 'refused';
  failures: number;
  timer: NodeJS.Timeout | undefined;
  /** Returns the worker to the pool. */
  release: () => void;
}

interface Entry<T> {
  readonly terminator: T;
  readonly createdAtMs: number;
  lastAttemptMs: number | undefined;
  /** Any controller has accepted it. */
  isEstablished: boolean;
  /** Set while the first request waits. */
  firstTimer: NodeJS.Timeout | undefined;
  /** Registration attempts by the id of a connected controller. */
  readonly attempts: Map<string, Attempt>;
}

/** Delay of an attempt that finds no worker, or a controller that does not respond. */
export const CREATION_RETRY_MS = 5_000;

export class TerminatorCreations<T extends { readonly id: string }> {
  readonly #options: TerminatorCreationsOptions<T>;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(options: TerminatorCreationsOptions<T>) {
    this.#options = options;
    options.controllers.onConnected((controller) => this.#onConnected(controller));
    options.controllers.onDisconnected((controller) => this.#onDisconnected(controller));
  }

  get(id: string): T | undefined {
    return this.#entries.get(id)?.terminator;
  }

  progressOf(id: string): CreationProgress {
    const entry = this.#entries.get(id);
    return {
      isEstablished: entry?.isEstablished === true,
      isPending: [...(entry?.attempts.values() ?? [])].some(({ state }) => state === 'asked'),
      createdAtMs: entry?.createdAtMs,
      lastAttemptMs: entry?.lastAttemptMs,
    };
  }

  /** Registers the terminator, instead of another one with its id. The first request waits for `delayMs`. */
  add(terminator: T, delayMs = 0): void {
    this.forget(terminator.id);
    const entry: Entry<T> = {
      terminator,
      createdAtMs: Date.now(),
      lastAttemptMs: undefined,
      isEstablished: false,
      firstTimer: undefined,
      attempts: new Map(),
    };
    this.#entries.set(terminator.id, entry);
    const askAll = (): void => {
      entry.firstTimer = undefined;
      for (const controller of this.#options.controllers.all()) this.#ask(entry, controller);
    };
    if (delayMs > 0) entry.firstTimer = setTimeout(askAll, delayMs);
    else askAll();
  }

  /** Stops the attempts. Controllers that know the terminator are not notified. */
  forget(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    clearTimeout(entry.firstTimer);
    for (const attempt of entry.attempts.values()) {
      clearTimeout(attempt.timer);
      attempt.release();
    }
  }

  onAnswer(answer: CreationAnswer, from: Controller): void {
    const entry = this.#entries.get(answer.terminatorId);
    const attempt = entry?.attempts.get(from.id);
    if (entry === undefined || attempt === undefined) return;
    clearTimeout(attempt.timer);
    attempt.release();
    if (answer.result === CreateTerminatorResult.SUCCESS) {
      attempt.state = 'accepted';
      attempt.failures = 0;
      entry.isEstablished = true;
      this.#options.onAccepted(entry.terminator, from);
      return;
    }
    if (answer.result !== CreateTerminatorResult.FAILED_BUSY) attempt.failures += 1;
    const retryMs = this.#options.retryMs(attempt.failures, answer);
    const fields = { terminator: answer.terminatorId, controllerId: from.id, reason: answer.msg, retryMs };
    if (retryMs !== undefined) {
      this.#options.log.info(fields, 'controller did not create a terminator; it is asked again');
      attempt.timer = setTimeout(() => this.#ask(entry, from), retryMs);
      return;
    }
    attempt.state = 'refused';
    this.#options.log.warn(fields, 'controller refused a terminator');
    this.#judge(entry, answer.msg || 'refused by the controller');
  }

  close(): void {
    for (const id of [...this.#entries.keys()]) this.forget(id);
  }

  #onConnected(controller: Controller): void {
    for (const entry of this.#entries.values())
      if (entry.firstTimer === undefined) this.#ask(entry, controller);
  }

  #onDisconnected({ id }: Controller): void {
    for (const entry of this.#entries.values()) {
      const attempt = entry.attempts.get(id);
      if (attempt === undefined) continue;
      clearTimeout(attempt.timer);
      attempt.release();
      entry.attempts.delete(id);
    }
  }

  #ask(entry: Entry<T>, controller: Controller): void {
    const former = entry.attempts.get(controller.id);
    clearTimeout(former?.timer);
    former?.release();
    const attempt: Attempt = {
      state: 'asked',
      failures: former?.failures ?? 0,
      timer: undefined,
      release: () => {},
    };
    entry.attempts.set(controller.id, attempt);
    const isCurrent = (): boolean =>
      this.#entries.get(entry.terminator.id) === entry && entry.attempts.get(controller.id) === attempt;
    const askAgain = (): void => {
      if (isCurrent()) this.#ask(entry, controller);
    };
    const create = (): Promise<void> | undefined => {
      if (!isCurrent() || controller.channel.isClosed) return undefined;
      entry.lastAttemptMs = Date.now();
      controller.channel.send(this.#options.frameOf(entry.terminator));
      attempt.timer = setTimeout(askAgain, this.#options.requestTimeoutMs);
      // Keeps the worker until the answer arrives or its time limit elapses.
      return new Promise((resolve) => {
        attempt.release = resolve;
      });
    };
    // A controller that does not answer must not occupy workers that other controllers need.
    if (controller.isResponsive && this.#options.pool.offer(create)) return;
    attempt.timer = setTimeout(askAgain, CREATION_RETRY_MS);
  }

  #judge(entry: Entry<T>, reason: string): void {
    const attempts = [...entry.attempts.values()];
    if (attempts.length === 0 || attempts.some(({ state }) => state !== 'refused')) return;
    this.forget(entry.terminator.id);
    this.#options.onRefused(entry.terminator, reason);
  }
}
