/**
 * Parsers of the values of options. What the configuration file and its reference need to know of the values is a property
 * of the parser, beside the rule that it checks: the bounds of a number, a list, a secret.
 */
import { InvalidArgumentError, type Option } from 'commander';
import { secretOf, type Secret } from '#base';

export interface ValueTraits {
  /** The value is a whole number. */
  readonly bounds?: readonly [least: number, most: number];
  /** Each occurrence of the option adds an entry. */
  readonly isRepeated?: boolean;
  /** The option has several entries in one text, with this between them. */
  readonly separator?: string;
  readonly isSecret?: boolean;
}

export type ValueParser<T> = ((text: string, before?: T) => T) & { readonly traits: ValueTraits };

/** The parser throws InvalidArgumentError that names the bounds. */
export function wholeNumber(least: number, most: number): ValueParser<number> {
  return withTraits({ bounds: [least, most] }, (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
  });
}

const EMAIL = /^[^\s@,?]{1,64}@[^\s@,?]{1,255}$/;

export function isEmailAddress(text: string): boolean {
  return EMAIL.test(text);
}

export function emailAddress(text: string): string {
  if (isEmailAddress(text)) return text;
  throw new InvalidArgumentError('must be an email address.');
}

/** For an option that may be repeated. */
export function repeated<T>(
  collect: (text: string, before?: readonly T[]) => readonly T[],
): ValueParser<readonly T[]> {
  return withTraits({ isRepeated: true }, collect);
}

/** An option that may be repeated, whose values are not checked here. */
export const repeatedText = repeated((text: string, before: readonly string[] = []) => [...before, text]);

/** For an option whose value is a list with commas. `check` returns it, or throws. */
export function commaList(check: (text: string) => string): ValueParser<string> {
  return withTraits({ separator: ',' }, check);
}

export const secretText: ValueParser<Secret> = withTraits({ isSecret: true }, secretOf);

export function traitsOf(parser: Option['parseArg']): ValueTraits {
  return (parser as Partial<ValueParser<unknown>> | undefined)?.traits ?? {};
}

function withTraits<T>(traits: ValueTraits, parse: (text: string, before?: T) => T): ValueParser<T> {
  return Object.assign((text: string, before?: T) => parse(text, before), { traits });
}
