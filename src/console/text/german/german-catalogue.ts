/** The German of sentences that the API sends in English. A file of its own, which browsers load when the language is German. */
import type { SentenceCatalogue } from '../api-sentences.ts';
import { GERMAN_FAILURES } from './german-failure-table.ts';
import { GERMAN_MESSAGE_REFUSALS } from './german-message-table.ts';
import { GERMAN_REFUSALS } from './german-refusal-table.ts';

export const GERMAN_CATALOGUE: SentenceCatalogue = {
  failures: Object.fromEntries([
    ...Object.entries(GERMAN_FAILURES),
    ...Object.entries(GERMAN_MESSAGE_REFUSALS),
  ]),
  refusals: GERMAN_REFUSALS,
};
