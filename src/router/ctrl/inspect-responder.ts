/**
 * Answers InspectRequest with values from the router's parts. Unknown names are omitted, as in OpenZiti's routers.
 * Values are sent as JSON; `stackdump` is a text.
 */
import { messageOf, type Log } from '#base';
import { waitingResourcesText } from '#net';
import { contentType, type Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { Controller, CtrlHandlers, InspectSource } from './controllers.ts';

const MAX_NAMES = 100;

export class InspectResponder {
  readonly #inspectors: readonly InspectSource[];
  readonly #log: Log;

  constructor(inspectors: readonly InspectSource[], log: Log) {
    this.#inspectors = inspectors;
    this.#log = log;
  }

  handlers(): CtrlHandlers {
    return new Map([[contentType.inspectRequest, (frame, from) => this.#onRequest(frame, from)]]);
  }

  #onRequest(frame: Frame, from: Controller): void {
    const { requestedValues } = ctrlMessages.inspectRequest.decode(frame.body);
    void this.#answer(frame, from, requestedValues.slice(0, MAX_NAMES));
  }

  async #answer(frame: Frame, from: Controller, names: readonly string[]): Promise<void> {
    const values: { name: string; value: string }[] = [];
    const errors: string[] = [];
    const inspectOne = async (name: string): Promise<void> => {
      try {
        const value = await this.#valueOf(lowerName(name));
        if (value !== undefined) values.push({ name, value });
      } catch (error) {
        this.#log.error({ name, err: messageOf(error) }, 'inspection failed');
        errors.push(`${name}: inspection failed`);
      }
    };
    await Promise.all(names.map(inspectOne));
    const response = ctrlMessages.inspectResponse.frame({ success: errors.length === 0, errors, values });
    from.channel.reply(frame, response);
  }

  async #valueOf(name: string): Promise<string | undefined> {
    if (name === 'stackdump') return waitingResourcesText();
    for (const inspect of this.#inspectors) {
      const value = await inspect(name);
      if (value !== undefined) return JSON.stringify(value, jsonValue);
    }
    return undefined;
  }
}

/** In `Circuit:aBc`, the id `aBc` of the circuit keeps its case. */
function lowerName(name: string): string {
  const [head = '', ...rest] = name.split(':');
  return [head.toLowerCase(), ...rest].join(':');
}

/** Converts values without a JSON form: numbers beyond 2^53 to text, bytes to base64, maps to objects. */
function jsonValue(this: unknown, key: string, plain: unknown): unknown {
  // `toJSON` of a Buffer has already converted it.
  const value = (this as Record<string, unknown>)[key];
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return plain;
}
