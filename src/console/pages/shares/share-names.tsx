/** Names instead of the ids that shares have: of auth providers and frontends. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';

const MAX_LISTED = 100;
const SHOWN_ID_CHARS = 8;

export function useListedProviders() {
  return useAnswer('listAuthProviders', {
    parameters: { frontdoorId: useFrontdoorId() },
    query: { size: MAX_LISTED, sort: 'name,asc' },
  });
}

export function ProviderName({ id }: { readonly id: string }): ReactNode {
  const known = useListedProviders().data?.body.content.find((provider) => provider.id === id);
  return known?.name ?? id.slice(0, SHOWN_ID_CHARS);
}
