/**
 * Dispatches frames of controllers to the handler of their type. Unknown types are ignored, as the protocol requires. A
 * malformed body closes the channel of that controller only.
 */
import { FrontdoorError, messageOf, type Log } from '#base';
import { failAlone } from '#net';
import { contentType, messageName, textOfBody, type Frame } from '#wire';
import type { Controller, CtrlHandler, CtrlHandlers } from './controllers.ts';

const MAX_LOGGED_CHARS = 300;

export class CtrlDispatcher {
  readonly #handlers = new Map<number, CtrlHandler>();
  readonly #log: Log;

  /** @throws Error when two parts handle the same type. */
  constructor(parts: readonly CtrlHandlers[], log: Log) {
    this.#log = log;
    for (const part of parts) {
      for (const [type, handler] of part) {
        if (this.#handlers.has(type)) throw new Error(`two parts handle ${messageName(type)}`);
        this.#handlers.set(type, handler);
      }
    }
  }

  onFrame(frame: Frame, from: Controller): void {
    const handler = this.#handlers.get(frame.contentType);
    if (handler === undefined) {
      this.#onUnhandled(frame, from);
      return;
    }
    try {
      handler(frame, from);
    } catch (error) {
      const fields = { controllerId: from.id, type: messageName(frame.contentType), err: messageOf(error) };
      if (error instanceof FrontdoorError && error.kind === 'protocol') {
        this.#log.warn(fields, 'malformed controller message; closing the channel');
        from.channel.close(`malformed ${fields.type}`);
      } else {
        const id = `${fields.type} of ${from.id}`;
        failAlone({ kind: 'message', id, log: this.#log }, error);
      }
    }
  }

  #onUnhandled(frame: Frame, from: Controller): void {
    const type = messageName(frame.contentType);
    const isAnswer = frame.contentType === contentType.result || frame.contentType === contentType.error;
    const text = isAnswer ? { text: textOfBody(frame).slice(0, MAX_LOGGED_CHARS) } : {};
    this.#log.debug({ controllerId: from.id, type, ...text }, 'controller message ignored');
  }
}
