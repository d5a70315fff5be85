/** The frame of the settings: a list of their pages in groups, as far as the person may see them. */
import { Outlet, useMatches } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSession } from '../../api/session.tsx';
import { NotPermitted } from '../../parts/not-permitted.tsx';
import { SideList } from '../../parts/side-list.tsx';
import { place } from '../../place.ts';
import { useText } from '../../text/language.tsx';
import { SETTINGS_GROUPS } from './settings-pages.ts';
import { settingsText } from './settings-text.ts';

export function SettingsFrame(): ReactNode {
  const text = useText(settingsText);
  const { may } = useSession();
  // The page that is on the screen: while another is being loaded, the location is that of the other one.
  const page = useMatches({ select: (matches) => matches.at(-1)?.pathname.split('/')[2] });
  const shown = SETTINGS_GROUPS.flatMap(([, pages]) => pages).find(([path]) => path === page);
  const account = { to: `${place.base}/account`, text: text.passwordAndFactor, isOutside: true };
  const groups = SETTINGS_GROUPS.map(([title, pages]) => {
    const entries = pages
      .filter(([, , id]) => may(id))
      .map(([path, label]) => ({ to: `/settings/${path}`, text: text[label] }));
    return { title: text[title], entries: title === 'yourAccount' ? [account, ...entries] : entries };
  }).filter(({ entries }) => entries.length > 0);
  return (
    <div className="fd-with-side">
      <SideList
        label={text.pages}
        page={shown === undefined ? text.settings : text[shown[1]]}
        groups={groups}
      />
      <div>{shown === undefined || may(shown[2]) ? <Outlet /> : <NotPermitted />}</div>
    </div>
  );
}
