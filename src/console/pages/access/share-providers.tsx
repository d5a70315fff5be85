/** The auth providers of a share. */
import { useState, type ReactNode } from 'react';
import type { ShareAnswer } from '#contract';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { ChangedMeanwhile } from '../../parts/changed-meanwhile.tsx';
import { Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { isOutdated } from '../../parts/read-version.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { ProviderChoice } from '../providers/provider-choice.tsx';
import { accessText } from './access-text.ts';

interface Held {
  readonly chosen: readonly string[];
  readonly etag: string | undefined;
}

export function ShareProviders({
  share,
  etag,
  hasUsers,
}: {
  readonly share: ShareAnswer;
  readonly etag: string | undefined;
  /** Whether the policy has users with a password. */
  readonly hasUsers: boolean;
}): ReactNode {
  const [text, parts] = [useText(accessText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const [held, setHeld] = useState<Held>();
  const chosen = held?.chosen ?? share.authProviderIds;
  const change = useChange('changeShare', { refreshes: ['share'], onDone: () => setHeld(undefined) });
  const loadNew = () => {
    change.reset();
    setHeld(undefined);
  };
  return (
    <Panel title={text.providers}>
      {isOutdated(held, etag) && !change.isPending ? <ChangedMeanwhile onLoad={loadNew} /> : null}
      {may('changeShare') ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      <Form
        fields={['authProviderIds']}
        error={change.error}
        isPending={change.isPending}
        isDisabled={held === undefined || !may('changeShare')}
        submit={text.saveProviders}
        onStale={loadNew}
        onSubmit={() =>
          change.mutate({
            parameters: { frontdoorId, token: share.token },
            body: { authProviderIds: [...chosen] },
            ifMatch: held?.etag,
          })
        }
      >
        <ProviderChoice
          label={text.providers}
          description={chosen.length === 0 ? text.providersOpen : text.providersHelp}
          value={chosen}
          isDisabled={!may('changeShare')}
          onChange={(ids) => setHeld({ chosen: ids, etag: held?.etag ?? etag })}
        />
        {chosen.length > 0 || hasUsers ? null : (
          <div role="status" className="fd-wrap">
            <StateBadge tone="warn">{text.providersOpenWarning}</StateBadge>
          </div>
        )}
      </Form>
      {change.isSuccess && held === undefined ? <p role="status">{text.saved}</p> : null}
    </Panel>
  );
}
