/** Describes the access to a share in sentences, in the person's language. */
import type { ReactNode } from 'react';
import { accessSentences, type AccessSentence, type SentencePolicy } from '#contract/access-sentences';
import { useNow } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { useProviderEntries } from '../providers/provider-choice.tsx';
import { hasKeys } from '../providers/type-facts.ts';
import { accessText } from './access-text.ts';
import { accessWords } from './access-words.ts';

/** `providerIds`: undefined for a policy that belongs to no single share. */
export function AccessSentences(props: {
  readonly policy: SentencePolicy;
  readonly providerIds: readonly string[] | undefined;
}): ReactNode {
  const sentences = useAccessSentences(props.policy, props.providerIds);
  return <p>{sentences.map(({ text }) => text).join(' ')}</p>;
}

/** The rules of a policy alone. */
export function RuleSentences({ policy }: { readonly policy: SentencePolicy }): ReactNode {
  const text = useText(accessText);
  const sentences = useAccessSentences(policy, undefined);
  return <p>{sentences.length === 0 ? text.noRules : sentences.map((each) => each.text).join(' ')}</p>;
}

export function useAccessSentences(
  policy: SentencePolicy,
  providerIds: readonly string[] | undefined,
): AccessSentence[] {
  const [words, format, nowMs] = [useText(accessWords), useFormat(), useNow()];
  const known = useProviderEntries().data?.body.content ?? [];
  // One that the list does not have is shown by its id.
  const providers = providerIds?.map((id) => {
    const found = known.find((provider) => provider.id === id);
    return {
      name: found?.name ?? id,
      enabled: found?.enabled ?? true,
      hasKeys: found !== undefined && hasKeys(found.type),
    };
  });
  return accessSentences(policy, providers, words, { nowMs, date: format.dateTime, number: format.number });
}
