/** What the table of types of auth providers has for the console. A type that the table does not have is shown by its own name. */
import { PROVIDER_TYPE_FACTS, type ProviderSetup, type ProviderTypeFacts } from 'frontdoor:provider-types';
import { createContext, useContext } from 'react';
import { pseudoText, type Language } from '../../text/define-text.ts';
import { useLanguage } from '../../text/language.tsx';

/** Steps at the provider before the form can be filled in. */
export interface SetupTexts {
  readonly first: readonly string[];
  /** Where the redirect addresses are entered; undefined for a type that is not known. */
  readonly redirects: string | undefined;
  readonly last: readonly string[];
}

export interface GuideTexts {
  readonly name: string;
  readonly displayName: string;
  readonly steps: SetupTexts;
}

export interface TypeTexts {
  readonly displayName: string | undefined;
  readonly description: string | undefined;
  readonly steps: SetupTexts;
  /** Products that are used with the type, by the name that the address of the form has. */
  readonly guides: readonly GuideTexts[];
  /** By the path of a field, as `data.keys.0.name`. */
  fieldOf(path: string): { readonly label: string | undefined; readonly help: string | undefined };
}

type Translated<T> = Readonly<Partial<Record<Exclude<Language, 'pseudo'>, T>>>;

function factsOf(type: string): ProviderTypeFacts | undefined {
  return Object.hasOwn(PROVIDER_TYPE_FACTS, type) ? PROVIDER_TYPE_FACTS[type] : undefined;
}

/** Whether callers prove themselves by keys, so that nobody logs in. */
export function hasKeys(type: string): boolean {
  return factsOf(type)?.hasKeys === true;
}

/** Whether there may be metadata to read. A type that is not known may have some. */
export function mayHaveMetadata(type: string): boolean {
  return factsOf(type)?.hasMetadata !== false;
}

function textsOf(type: string, language: Language): TypeTexts {
  const facts = factsOf(type);
  const shown = (text: Translated<string> | undefined): string | undefined =>
    language !== 'pseudo' ? text?.[language] : text?.en === undefined ? undefined : pseudoText(text.en);
  return {
    displayName: shown(facts?.displayName),
    description: shown(facts?.description),
    steps: setupTexts(facts?.steps, language),
    guides: Object.entries(facts?.guides ?? {}).map(([name, { displayName, steps }]) => ({
      name,
      // Names of products are the same in every language.
      displayName: language === 'pseudo' ? pseudoText(displayName) : displayName,
      steps: setupTexts(steps, language),
    })),
    fieldOf: (path) => {
      const name = path.replace(/^data\./, '').replaceAll(/\.\d+(?=\.)/g, '');
      const field = facts?.fields[name];
      return { label: shown(field?.label), help: shown(field?.help) };
    },
  };
}

function setupTexts(setup: ProviderSetup | undefined, language: Language): SetupTexts {
  const listOf = (texts: Translated<readonly string[]> | undefined): readonly string[] =>
    language === 'pseudo' ? (texts?.en ?? []).map(pseudoText) : (texts?.[language] ?? []);
  const { first, redirects, last } = setup ?? {};
  const where = language === 'pseudo' ? pseudoText(redirects?.en ?? '') : redirects?.[language];
  return { first: listOf(first), redirects: where || undefined, last: listOf(last) };
}

export function useTypeTexts(type: string): TypeTexts {
  const { language } = useLanguage();
  return textsOf(type, language);
}

/** All types at once, for lists of them. */
export function useTextsOfTypes(): (type: string) => TypeTexts {
  const { language } = useLanguage();
  return (type) => textsOf(type, language);
}

/** The type whose fields a form shows. */
export const ProviderTypeContext = createContext('');

export function useFieldTexts(): TypeTexts['fieldOf'] {
  return useTypeTexts(useContext(ProviderTypeContext)).fieldOf;
}
