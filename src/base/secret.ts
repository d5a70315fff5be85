/**
 * A text that no message, log line or answer may contain: a key, token or password, or the value of a field that may hold
 * one. Wherever it is made a text without `reveal`, `HIDDEN` stands in its place. TypeScript refuses it as a string.
 */
export const HIDDEN = '(hidden)';

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself: for the code that uses the secret, never for a message. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  /** For `console.log` and messages of assertions. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return HIDDEN;
  }
}

/** Hides user names and passwords in URLs of a text. */
export function withoutUserInfo(text: string): string {
  return text.replaceAll(/(\/\/)[^/@\s]*@/g, `$1${HIDDEN}@`);
}

/** For options of commands and other fields whose text is a secret. */
export function secretOf(text: string): Secret {
  return new Secret(text);
}
