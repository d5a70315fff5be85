/**
 * Splits a query of OpenZiti's language into tokens: names, texts, numbers, times and signs. White space separates
 * tokens and has no other meaning. Characters that start no token end up in a token of their own, which the parser
 * refuses.
 */
export type TokenKind = 'name' | 'text' | 'number' | 'time' | 'sign' | 'unknown' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** As it stands in the query; `<EOF>` at its end. */
  readonly source: string;
  /** Position of the first character, from 0. */
  readonly at: number;
}

const SPACE = /[ \n\t\r]*/y;
/** In this order, because `datetime(` begins like a name. */
const FORMS: readonly (readonly [TokenKind, RegExp])[] = [
  ['time', /datetime\([ \n\t\r]*[0-9T:.+\-Zz]+[ \n\t\r]*\)/y],
  ['name', /'?[A-Za-z][A-Za-z_]*(?:\.[A-Za-z][A-Za-z_-]*)*'?/y],
  ['text', /"(?:[^"\\\p{Cc}]|\\["\\fnrt])*"/uy],
  ['number', /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[Ee][+-]?[0-9]+)?/y],
  ['sign', /<=|>=|!=|[<>=()[\],]/y],
];
const ESCAPES: Readonly<Record<string, string>> = { f: '\f', n: '\n', r: '\r', t: '\t' };

/** Returns one token after another, and then `end` for ever. */
export class QueryLexer {
  readonly #query: string;
  #at = 0;

  constructor(query: string) {
    this.#query = query;
  }

  next(): Token {
    this.#at += this.#match(SPACE)?.length ?? 0;
    const at = this.#at;
    if (at >= this.#query.length) return { kind: 'end', source: '<EOF>', at };
    for (const [kind, form] of FORMS) {
      const source = this.#match(form);
      if (source === undefined) continue;
      this.#at += source.length;
      return { kind, source, at };
    }
    const [source = ''] = this.#query.slice(at, at + 2);
    this.#at += source.length;
    return { kind: 'unknown', source, at };
  }

  #match(form: RegExp): string | undefined {
    form.lastIndex = this.#at;
    return form.exec(this.#query)?.[0];
  }
}

/** Returns the value of a text token. */
export function textOf(source: string): string {
  return source.slice(1, -1).replaceAll(/\\(.)/g, (_all, letter: string) => ESCAPES[letter] ?? letter);
}

/** Returns Unix milliseconds of a time token; NaN if it is not a time of RFC 3339. */
export function timeOf(source: string): number {
  const text = source.slice(source.indexOf('(') + 1, -1).trim();
  return /^\d{4,6}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text.toUpperCase())
    : Number.NaN;
}
