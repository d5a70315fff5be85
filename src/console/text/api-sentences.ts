/** Sentences of the API in another language than English, by their codes: the shape of a catalogue, and what it has for a sentence. */

/** By failure code: the cause, and what to do. */
export type CauseTexts = Readonly<Record<string, readonly [cause: string, remedy: string]>>;

export interface SentenceCatalogue {
  readonly failures: CauseTexts;
  /** By the word of `error` of a refusal. */
  readonly refusals: Readonly<Record<string, string>>;
}

/** What a sentence of the API is about. */
export type SentenceKind = 'cause' | 'remedy' | 'refusal';

/** Undefined for a code that the catalogue does not have, as of a newer control plane. */
export function sentenceFor(
  catalogue: SentenceCatalogue | undefined,
  kind: SentenceKind,
  code: string,
): string | undefined {
  if (catalogue === undefined) return undefined;
  const { failures, refusals } = catalogue;
  if (kind === 'refusal') return Object.hasOwn(refusals, code) ? refusals[code] : undefined;
  const texts = Object.hasOwn(failures, code) ? failures[code] : undefined;
  return texts?.[kind === 'cause' ? 0 : 1];
}
