/** Which frontdoor the pages are about: the one in the address, else the last one, else the first. */
import { useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useAnswer } from '../api/queries.ts';
import { useSession } from '../api/session.tsx';

const KEY = 'frontdoor-last';
const MAX_SHOWN = 100;

/** The id in the address. Pages below `/frontdoors/{id}` have one. */
export function useFrontdoorId(): string {
  const { frontdoorId } = useParams({ strict: false });
  if (frontdoorId === undefined) throw new Error('no frontdoor in the address');
  return frontdoorId;
}

/** A parameter of the page's address, by its name. */
export function useParam(name: string): string {
  const value = (useParams({ strict: false }) as Readonly<Record<string, string | undefined>>)[name];
  if (value === undefined) throw new Error(`no ${name} in the address`);
  return value;
}

/** The frontdoors of the person's organization. */
export function useFrontdoors() {
  const { caller } = useSession();
  return useAnswer('listFrontdoors', {
    parameters: { organizationId: caller.organizationId },
    query: { size: MAX_SHOWN },
  });
}

/** The frontdoor that the navigation is about; undefined while it is not known, or if there is none. */
export function useCurrentFrontdoor(): string | undefined {
  const { frontdoorId } = useParams({ strict: false });
  const { data } = useFrontdoors();
  useEffect(() => {
    if (frontdoorId !== undefined) sessionStorage.setItem(KEY, frontdoorId);
  }, [frontdoorId]);
  if (frontdoorId !== undefined) return frontdoorId;
  const all = data?.body.content ?? [];
  const last = sessionStorage.getItem(KEY);
  return (all.find(({ id }) => id === last) ?? all[0])?.id;
}
