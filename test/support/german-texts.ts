/** German texts of the console, whose files import nothing that needs a browser. */

type Sentence = 'cause' | 'remedy' | 'refusal';

interface GermanCatalogue {
  readonly failures: Readonly<Record<string, readonly string[]>>;
  readonly refusals: Readonly<Record<string, string>>;
}

export interface GermanTexts {
  readonly GERMAN_CATALOGUE: GermanCatalogue;
  readonly ACTION_TEXTS: Readonly<Record<string, unknown>>;
  readonly actionText: (action: string, language: 'en' | 'de') => string;
  readonly sentenceFor: (
    catalogue: GermanCatalogue | undefined,
    kind: Sentence,
    code: string,
  ) => string | undefined;
}

const FILES = [
  'text/german/german-catalogue.ts',
  'text/api-sentences.ts',
  'pages/activity/action-table.ts',
  'pages/activity/action-text.ts',
];

export async function loadGermanTexts(): Promise<GermanTexts> {
  const modules = await Promise.all(
    FILES.map(
      (file) => import(new URL(`../../src/console/${file}`, import.meta.url).href) as Promise<object>,
    ),
  );
  return Object.assign({}, ...modules) as GermanTexts;
}
