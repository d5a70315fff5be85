/** Whose settings a page shows: those of the person's organization, or, for operators, of the one in the address. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { useText } from '../../text/language.tsx';
import { settingsText } from './settings-text.ts';

export function useOrganizationId(): string {
  const { caller } = useSession();
  const asked = useSearchState().textOf('organizationId');
  return asked === '' ? caller.organizationId : asked;
}

/** Names the other organization, with the way back to one's own. */
export function OtherOrganization(): ReactNode {
  const text = useText(settingsText);
  const control = useSearchState();
  const asked = control.textOf('organizationId');
  const { data } = useAnswer(
    'getOrganization',
    { parameters: { organizationId: asked } },
    { enabled: asked !== '' },
  );
  if (asked === '') return null;
  return (
    <p>
      {text.ofOrganization(data?.body.name ?? asked)}{' '}
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => control.change({ organizationId: undefined })}
      >
        {text.ownOrganization}
      </Button>
    </p>
  );
}
