/**
 * The pages that a person visited last, for the search. They are kept for this tab, because their titles are names of resources,
 * and forgotten when the person signs out.
 */
import { useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useSession } from '../api/session.tsx';

const KEY = 'frontdoor-places';
const MOST = 8;
/** What `PageTitle` adds. */
const SUFFIX = ' · Frontdoor';

export interface RecentPlace {
  readonly path: string;
  readonly title: string;
}

/** The last one first, without the page itself. */
export function recentPlaces(personId: string, current: string): readonly RecentPlace[] {
  return read(personId).filter(({ path }) => path !== current);
}

export function forgetPlaces(): void {
  sessionStorage.removeItem(KEY);
}

/** Notes each page when it is left, because only then its title is certain. */
export function useNotedPlaces(): void {
  const { pathname } = useLocation();
  const { id } = useSession().caller;
  useEffect(
    () => () => {
      const title = document.title;
      if (!title.endsWith(SUFFIX) || pathname.endsWith('/new')) return;
      const place = { path: pathname, title: title.slice(0, -SUFFIX.length) };
      const others = read(id).filter(({ path }) => path !== pathname);
      const places = [place, ...others].slice(0, MOST);
      sessionStorage.setItem(
        KEY,
        JSON.stringify([id, ...places.flatMap(({ path, title: name }) => [path, name])]),
      );
    },
    [pathname, id],
  );
}

/** A list of texts: the person, then path and title of each place. Anything else counts as nothing. */
function read(personId: string): readonly RecentPlace[] {
  let stored: unknown;
  try {
    stored = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(stored)) return [];
  const [owner, ...texts] = stored.filter((text) => typeof text === 'string');
  if (owner !== personId) return [];
  const places: RecentPlace[] = [];
  for (let at = 0; at + 1 < texts.length && places.length < MOST; at += 2)
    if (texts[at]!.startsWith('/')) places.push({ path: texts[at]!, title: texts[at + 1]! });
  return places;
}
