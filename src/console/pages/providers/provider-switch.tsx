/** Turns an auth provider on, or off after a question, because people are shut out by it. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { ProviderAnswer } from '#contract/schemas';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { useProviderUses } from './provider-uses.tsx';
import { providersText } from './providers-text.ts';

export function ProviderSwitch({
  provider: { id, enabled },
  etag,
}: {
  readonly provider: ProviderAnswer;
  readonly etag: string | undefined;
}): ReactNode {
  const [text, format] = [useText(providersText), useFormat()];
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const [isAsking, setAsking] = useState(false);
  const { answer } = useProviderUses(id);
  const shares = answer.data?.body.shareCount ?? 0;
  const change = useChange('changeAuthProvider', {
    refreshes: ['auth-provider'],
    onDone: () => setAsking(false),
  });
  const send = () =>
    change.mutate({ parameters: { frontdoorId, id }, body: { enabled: !enabled }, ifMatch: etag });
  if (!may('changeAuthProvider')) return null;
  return (
    <>
      <Button
        variant="default"
        loading={change.isPending}
        onClick={() => (enabled ? setAsking(true) : send())}
      >
        {enabled ? text.disable : text.enable}
      </Button>
      {change.error === null || isAsking ? null : <Problem error={change.error} />}
      <ConfirmDialog
        title={text.disable}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        action={text.disable}
        isPending={change.isPending}
        error={change.error}
        onConfirm={send}
      >
        <p>{text.disableWhy}</p>
        {shares === 0 ? null : <p>{text.disableUsed(text.shareCount(shares, format.number(shares)))}</p>}
      </ConfirmDialog>
    </>
  );
}
