/**
 * The texts of the console. Each area has one table with every language; a language that lacks a text does not compile.
 * The pseudo-language shows texts that are not in a table, and places where longer words do not fit.
 */

export type Language = 'en' | 'de' | 'pseudo';

export const LANGUAGES: Readonly<Record<Exclude<Language, 'pseudo'>, string>> = {
  en: 'English',
  de: 'Deutsch',
};

type TextValue = string | ((...values: never[]) => string);
export type Texts = Readonly<Record<string, TextValue>>;

type SameTexts<T extends Texts> = {
  readonly [K in keyof T]: T[K] extends (...values: infer Values) => string
    ? (...values: Values) => string
    : string;
};

/** Texts of one area, by language. */
export type TextArea<T extends Texts> = Readonly<Record<Language, SameTexts<T>>>;

export function defineText<const T extends Texts>(texts: {
  readonly en: T;
  readonly de: SameTexts<T>;
}): TextArea<T> {
  const en = texts.en as unknown as SameTexts<T>;
  return { en, de: texts.de, pseudo: pseudoOf(en) };
}

const ACCENTED: Readonly<Record<string, string>> = Object.fromEntries(
  [...'aeioucnsyzAEIOUCNSYZ'].map((letter, at) => [letter, [...'áéíóúçñšýžÁÉÍÓÚÇÑŠÝŽ'][at]!]),
);

/** `Save` becomes `[Šávé~]`: accented, a third longer, between brackets. */
export function pseudoText(text: string): string {
  const accented = [...text].map((letter) => ACCENTED[letter] ?? letter).join('');
  return `[${accented}${'~'.repeat(Math.ceil(text.length / 3))}]`;
}

function pseudoOf<T extends Texts>(texts: SameTexts<T>): SameTexts<T> {
  const entries = Object.entries(texts as Record<string, TextValue>).map(([key, value]) => [
    key,
    typeof value === 'string' ? pseudoText(value) : (...values: never[]) => pseudoText(value(...values)),
  ]);
  return Object.fromEntries(entries) as SameTexts<T>;
}

/** `1 share`, `2 shares`; the number is formatted already. */
export function counted(count: number, shown: string, one: string, other: string): string {
  return `${shown} ${count === 1 ? one : other}`;
}
