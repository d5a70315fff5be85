/**
 * Handles controllers' messages about terminators: answers to creations, and requests to validate the terminators that
 * they know (1041, and 1017 of older controllers). The part of each binding validates its own terminators.
 */
import { contentType, type Frame } from '#wire';
import { ctrlMessages, TerminatorInvalidReason } from '#wire/ctrl';
import type { EdgeTerminatorRegistry } from './edge-terminator-registry.ts';
import type { Controller, CtrlHandlers } from '../ctrl/controllers.ts';

export interface AskedTerminator {
  readonly id: string;
  readonly binding: string;
  readonly address: string;
}

export interface TerminatorVerdict {
  readonly valid: boolean;
  /** The reason, which applies when it is not valid. */
  readonly reason: TerminatorInvalidReason;
  readonly detail: string;
}

/** Returns undefined if the terminator's binding belongs to another part. */
export type TerminatorCheck = (terminator: AskedTerminator) => TerminatorVerdict | undefined;

const REMOVE_BATCH = 50;

export class TerminatorMessages {
  readonly #terminators: EdgeTerminatorRegistry;
  readonly #checks: readonly TerminatorCheck[];

  /** `checks` validate terminators of bindings other than `edge`. */
  constructor(terminators: EdgeTerminatorRegistry, checks: readonly TerminatorCheck[]) {
    this.#terminators = terminators;
    this.#checks = checks;
  }

  handlers(): CtrlHandlers {
    return new Map([
      [contentType.createTerminatorV2Response, (frame, from) => this.#onCreateResponse(frame, from)],
      [contentType.validateTerminatorsV2, (frame: Frame, from: Controller) => this.#onValidate(frame, from)],
      [contentType.validateTerminators, (frame: Frame, from: Controller) => this.#onValidateOld(frame, from)],
    ]);
  }

  #onCreateResponse(frame: Frame, from: Controller): void {
    this.#terminators.onCreateResponse(ctrlMessages.createTerminatorV2Response.decode(frame.body), from);
  }

  #onValidate(frame: Frame, from: Controller): void {
    const { terminators } = ctrlMessages.validateTerminatorsV2.decode(frame.body);
    const states = Object.fromEntries(
      terminators.map((terminator) => [
        terminator.id,
        { ...this.#verdictOn(terminator), marker: terminator.marker },
      ]),
    );
    from.channel.reply(frame, ctrlMessages.validateTerminatorsV2Response.frame({ states }));
  }

  /** The older request has no answer. The router removes invalid terminators instead. */
  #onValidateOld(frame: Frame, from: Controller): void {
    const { terminators } = ctrlMessages.validateTerminators.decode(frame.body);
    const ids = terminators.filter((it) => !this.#verdictOn(it).valid).map(({ id }) => id);
    for (let at = 0; at < ids.length; at += REMOVE_BATCH) {
      const terminatorIds = ids.slice(at, at + REMOVE_BATCH);
      from.channel.send(ctrlMessages.removeTerminators.frame({ terminatorIds }));
    }
  }

  #verdictOn(terminator: AskedTerminator): TerminatorVerdict {
    const { UNKNOWN_BINDING, UNKNOWN_TERMINATOR } = TerminatorInvalidReason;
    if (terminator.binding === 'edge') {
      const valid = this.#terminators.byId(terminator.id) !== undefined;
      return { valid, reason: UNKNOWN_TERMINATOR, detail: valid ? '' : 'unknown here' };
    }
    for (const check of this.#checks) {
      const verdict = check(terminator);
      if (verdict !== undefined) return verdict;
    }
    return { valid: false, reason: UNKNOWN_BINDING, detail: 'unknown here' };
  }
}
