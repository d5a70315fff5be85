/** Deletes an auth provider that nothing uses, after its name was typed. */
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ProviderAnswer } from '#contract/schemas';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
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
  const { count } = useProviderUses(id);
  const isUsed = count !== undefined && count > 0;
  return (
    <Panel title={text.deleteProvider}>
      <p>{!may('deleteAuthProvider') ? parts.roleTooLow : isUsed ? text.deleteUsed : text.deleteText}</p>
      <DeleteButton
        operation="deleteAuthProvider"
        kind="auth-provider"
        input={{ parameters: { frontdoorId, id }, ifMatch: etag }}
        label={text.deleteProvider}
        title={text.deleteProvider}
        action={parts.delete}
        typed={name}
        variant="outline"
        isDisabled={isUsed || !may('deleteAuthProvider')}
        onDeleted={() => void navigate({ to: '/frontdoors/$frontdoorId/providers', params: { frontdoorId } })}
      >
        <p>{text.deleteText}</p>
      </DeleteButton>
    </Panel>
  );
}
