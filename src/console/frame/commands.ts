/** Commands of the search, as far as the role permits them: forms that make something, colors, and the list of keys. */
import { useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { OperationId } from '#contract';
import { useSession } from '../api/session.tsx';
import { useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';
import { useCurrentFrontdoor } from './frontdoor.tsx';

export interface SearchCommand {
  readonly name: string;
  readonly run: () => void;
}

const SCHEMES = ['light', 'dark', 'auto'] as const;

export function useCommands(openKeys: () => void): readonly SearchCommand[] {
  const text = useText(frameText);
  const { may } = useSession();
  const frontdoorId = useCurrentFrontdoor();
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const form = (id: OperationId, name: string, path: string): readonly SearchCommand[] =>
    frontdoorId !== undefined && may(id)
      ? [{ name, run: () => void navigate({ to: `/frontdoors/${frontdoorId}/${path}` }) }]
      : [];
  return [
    ...form('createShare', text.publish, 'shares/new'),
    ...form('createEnrollment', text.addAgent, 'agents/new'),
    ...form('createAuthProvider', text.newProvider, 'providers/new'),
    ...form('createCustomFrontend', text.newDomain, 'domains/new'),
    ...SCHEMES.map((scheme) => ({ name: text.useScheme(scheme), run: () => setColorScheme(scheme) })),
    { name: text.listKeys, run: openKeys },
  ];
}
