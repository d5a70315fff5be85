/** The auth providers of a share. */
import type { ReactNode } from 'react';
import type { ShareAnswer } from '#contract';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { ProviderChoice } from '../providers/provider-choice.tsx';
import { accessText } from './access-text.ts';

export function ShareProviders({
  now,
  reload,
  hasUsers,
}: Editable<ShareAnswer> & {
  /** Whether the policy has users with a password. */
  readonly hasUsers: boolean;
}): ReactNode {
  const [text, parts] = [useText(accessText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const edit = useEdit({ now, reload, draftOf: ({ authProviderIds }) => ({ authProviderIds }) });
  const { authProviderIds: chosen } = edit.draft;
  const { body: share, etag } = edit.base;
  const change = useChange('changeShare', { refreshes: ['share'], onDone: edit.saved });
  return (
    <Panel title={text.providers}>
      {may('changeShare') ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      <EditForm
        edit={edit}
        change={change}
        fields={['authProviderIds']}
        isDisabled={!may('changeShare')}
        submit={text.saveProviders}
        saved={text.saved}
        onSubmit={() =>
          change.mutate({
            parameters: { frontdoorId, token: share.token },
            body: { authProviderIds: [...chosen] },
            ifMatch: etag,
          })
        }
      >
        <ProviderChoice
          label={text.providers}
          description={chosen.length === 0 ? text.providersOpen : text.providersHelp}
          value={chosen}
          isDisabled={!may('changeShare')}
          onChange={(ids) => edit.type({ authProviderIds: [...ids] })}
        />
        {chosen.length > 0 || hasUsers ? null : (
          <div role="status" className="fd-wrap">
            <StateBadge tone="warn">{text.providersOpenWarning}</StateBadge>
          </div>
        )}
      </EditForm>
    </Panel>
  );
}
