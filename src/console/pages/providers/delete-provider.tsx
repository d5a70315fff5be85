/** Deletes an auth provider that nothing uses, after its name was typed. */
import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { ProviderAnswer } from '#contract';
import { useChange } from '../../api/queries.ts';
import { useRefreshOnLeave } from '../../api/refresh-on-leave.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useText } from '../../text/language.tsx';
import { useProviderUses } from './provider-uses.tsx';
import { providersText } from './providers-text.ts';

export function DeleteProvider({
  provider: { id, name },
  etag,
}: {
  readonly provider: ProviderAnswer;
  readonly etag: string | undefined;
}): ReactNode {
  const [text, parts] = [useText(providersText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const navigate = useNavigate();
  const { may } = useSession();
  const [isAsking, setAsking] = useState(false);
  const { count } = useProviderUses(id);
  const isUsed = count !== undefined && count > 0;
  const noteDeletion = useRefreshOnLeave('auth-provider');
  const remove = useChange('deleteAuthProvider', {
    onDone: () => {
      noteDeletion();
      void navigate({ to: '/frontdoors/$frontdoorId/providers', params: { frontdoorId } });
    },
  });
  return (
    <Panel title={text.deleteProvider}>
      <p>{!may('deleteAuthProvider') ? parts.roleTooLow : isUsed ? text.deleteUsed : text.deleteText}</p>
      <Button
        color="red"
        variant="outline"
        disabled={isUsed || !may('deleteAuthProvider')}
        onClick={() => setAsking(true)}
      >
        {text.deleteProvider}
      </Button>
      <ConfirmDialog
        title={text.deleteProvider}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        action={parts.delete}
        typed={name}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ parameters: { frontdoorId, id }, ifMatch: etag })}
      >
        <p>{text.deleteText}</p>
      </ConfirmDialog>
    </Panel>
  );
}
