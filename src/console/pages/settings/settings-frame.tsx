/** The frame of the settings: the way to their pages, as far as the person may see them. */
import { Outlet, useMatches } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperationId } from '#contract';
import { useSession } from '../../api/session.tsx';
import { NotPermitted } from '../../parts/not-permitted.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import { useText } from '../../text/language.tsx';
import { settingsText } from './settings-text.ts';

type Label =
  | 'frontdoors'
  | 'accounts'
  | 'clients'
  | 'people'
  | 'sessions'
  | 'organization'
  | 'logIns'
  | 'organizations'
  | 'keys'
  | 'names'
  | 'hostnames'
  | 'installation';

/** Address, text, and the operation whose scope the page and those below it need. */
const PAGES: readonly (readonly [string, Label, OperationId])[] = [
  ['frontdoors', 'frontdoors', 'listFrontdoors'],
  ['accounts', 'accounts', 'listApiAccounts'],
  ['clients', 'clients', 'listOauthClients'],
  ['people', 'people', 'listPeople'],
  ['sessions', 'sessions', 'listConsoleSessions'],
  ['organization', 'organization', 'getOrganizationSettings'],
  ['log-ins', 'logIns', 'listConsoleLogIns'],
  ['organizations', 'organizations', 'listOrganizations'],
  ['keys', 'keys', 'listSigningKeys'],
  ['names', 'names', 'listRestingNames'],
  ['hostnames', 'hostnames', 'listHostnameClaims'],
  ['installation', 'installation', 'getInstallation'],
];

export function SettingsFrame(): ReactNode {
  const text = useText(settingsText);
  const { may } = useSession();
  // The page that is on the screen: while another is being loaded, the location is that of the other one.
  const page = useMatches({ select: (matches) => matches.at(-1)?.pathname.split('/')[2] });
  const isPermitted = PAGES.every(([path, , id]) => path !== page || may(id));
  const tabs = PAGES.filter(([, , id]) => may(id)).map(
    ([path, label]) => [`/settings/${path}`, text[label]] as const,
  );
  return (
    <>
      <PageTabs label={text.pages} tabs={tabs} />
      {isPermitted ? <Outlet /> : <NotPermitted />}
    </>
  );
}
