/** The pages that the search finds: those of the navigation, of the settings and of the mesh, and the last visited ones. */
import { useLocation } from '@tanstack/react-router';
import { useSession } from '../api/session.tsx';
import { MESH_PAGES } from '../pages/mesh/mesh-frame.tsx';
import { meshText } from '../pages/mesh/mesh-text.ts';
import { SETTINGS_GROUPS } from '../pages/settings/settings-pages.ts';
import { settingsText } from '../pages/settings/settings-text.ts';
import { useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';
import { useCurrentFrontdoor } from './frontdoor.tsx';
import { navigationOf } from './navigation.ts';
import { recentPlaces } from './recent-places.ts';
import { searchText } from './search-text.ts';
import { searchWords } from './search-words.ts';

export interface SearchPage {
  readonly to: string;
  readonly name: string;
  readonly kind: string;
  readonly words?: string;
}

const MOST_RECENT = 5;

export function useRecentPages(): readonly SearchPage[] {
  const text = useText(searchText);
  const { pathname } = useLocation();
  const places = recentPlaces(useSession().caller.id, pathname);
  return places
    .slice(0, MOST_RECENT)
    .map(({ path, title }) => ({ to: path, name: title, kind: text.recent }));
}

export function useSearchPages(): readonly SearchPage[] {
  const [frame, own] = [useText(frameText), useText(searchText)];
  const [mesh, settings] = [useText(meshText), useText(settingsText)];
  const session = useSession();
  const entries = navigationOf(session, useCurrentFrontdoor()).flatMap((group) => group.entries);
  const settingsPages = SETTINGS_GROUPS.flatMap(([, pages]) => pages).filter(([, , id]) => session.may(id));
  return [
    ...entries.map(({ to, label }) => ({
      to,
      name: frame[label],
      kind: frame.pages,
      words: searchWords(label),
    })),
    ...settingsPages.map(([path, label]) => ({
      to: `/settings/${path}`,
      name: settings[label],
      kind: own.settings,
      words: searchWords(path),
    })),
    ...(session.may('listRouters') ? MESH_PAGES : []).map((page) => ({
      to: `/mesh/${page}`,
      name: mesh[page],
      kind: own.mesh,
    })),
  ];
}
