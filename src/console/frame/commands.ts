/** Commands of the search, as far as the role permits them: forms that make something, the session, colors, language, help. */
import { useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { OperationId } from '#contract';
import { useSession } from '../api/session.tsx';
import { NEW_FIELD } from '../parts/form-in-address.ts';
import { place } from '../place.ts';
import { LANGUAGES, type Language } from '../text/define-text.ts';
import { useLanguage, useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';
import { useCurrentFrontdoor } from './frontdoor.tsx';
import { searchText } from './search-text.ts';
import { searchWords } from './search-words.ts';

export interface SearchCommand {
  readonly name: string;
  readonly words?: string;
  readonly run: () => void;
}

/** What the frame does, and not a page. */
export interface FrameActions {
  readonly openKeys: () => void;
  readonly openTour: () => void;
  readonly signOut: () => void;
}

const SCHEMES = ['light', 'dark', 'auto'] as const;

export function useCommands({ openKeys, openTour, signOut }: FrameActions): readonly SearchCommand[] {
  const [text, own] = [useText(frameText), useText(searchText)];
  const { setColorScheme } = useMantineColorScheme();
  const { setLanguage } = useLanguage();
  return [
    ...useForms(),
    { name: own.signOut, words: searchWords('signOut'), run: signOut },
    ...SCHEMES.map((scheme) => ({ name: text.useScheme(scheme), run: () => setColorScheme(scheme) })),
    ...Object.entries(LANGUAGES).map(([code, name]) => ({
      name: own.useLanguage(name),
      words: 'language sprache',
      run: () => setLanguage(code as Language),
    })),
    { name: own.tour, words: 'help hilfe', run: openTour },
    { name: text.listKeys, run: openKeys },
  ];
}

/** Forms, each with the operation that it sends. */
function useForms(): readonly SearchCommand[] {
  const [text, own] = [useText(frameText), useText(searchText)];
  const { may } = useSession();
  const frontdoorId = useCurrentFrontdoor();
  const navigate = useNavigate();
  const form = (id: OperationId, name: string, words: string, to: string, search = {}) =>
    may(id) ? [{ name, words, run: () => void navigate({ to, search }) }] : [];
  const inFrontdoor = (id: OperationId, name: string, words: string, path: string) =>
    frontdoorId === undefined ? [] : form(id, name, words, `/frontdoors/${frontdoorId}/${path}`);
  const isNew = { [NEW_FIELD]: 'true' };
  return [
    ...inFrontdoor('createShare', text.publish, searchWords('publish'), 'shares/new'),
    ...inFrontdoor('createEnrollment', text.addAgent, searchWords('addAgent'), 'agents/new'),
    ...inFrontdoor('createAuthProvider', text.newProvider, searchWords('newProvider'), 'providers/new'),
    ...inFrontdoor('createPolicy', own.newPolicy, searchWords('newPolicy'), 'policies/new'),
    ...inFrontdoor('createCustomFrontend', text.newDomain, searchWords('newDomain'), 'domains/new'),
    ...form('createInvitation', own.invite, searchWords('invite'), '/settings/people', isNew),
    ...form('createApiAccount', own.newAccount, searchWords('newAccount'), '/settings/accounts', isNew),
    ...form('createOauthClient', own.newClient, searchWords('newClient'), '/settings/clients', isNew),
    ...form('createFrontdoor', own.newFrontdoor, searchWords('newFrontdoor'), '/settings/frontdoors', isNew),
    ...form('endConsoleSession', own.endSessions, searchWords('endSessions'), '/settings/sessions'),
    ...form('getBackup', own.backup, searchWords('backup'), '/settings/installation'),
    {
      name: own.account,
      words: searchWords('account'),
      run: () => window.location.assign(`${place.base}/account`),
    },
  ];
}
