/** The types of auth providers as people know them, and the state of one. A type that this console does not know has its own name. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { providersText } from './providers-text.ts';
import { useTextsOfTypes } from './type-facts.ts';

export function useProviderTypes() {
  return useAnswer('listAuthProviderTypes', { parameters: { frontdoorId: useFrontdoorId() } });
}

export function useTypeName(): (type: string) => string {
  const types = useProviderTypes().data?.body ?? [];
  const textsOf = useTextsOfTypes();
  return (type) => textsOf(type).displayName ?? types.find((one) => one.type === type)?.displayName ?? type;
}

export function ProviderState({ isEnabled }: { readonly isEnabled: boolean }): ReactNode {
  const text = useText(providersText);
  return (
    <StateBadge tone={isEnabled ? 'good' : 'warn'}>{isEnabled ? text.enabled : text.disabled}</StateBadge>
  );
}
