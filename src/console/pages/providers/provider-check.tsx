/** Whether the control plane reaches the provider, and the addresses to register there. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ProviderAnswer, ProviderDraftCheckAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { place } from '../../place.ts';
import { useText } from '../../text/language.tsx';
import { providersText } from './providers-text.ts';
import { hasKeys, useTypeTexts } from './type-facts.ts';

export function ProviderCheck({ provider }: { readonly provider: ProviderAnswer }): ReactNode {
  const text = useText(providersText);
  const { may } = useSession();
  const { redirects } = useTypeTexts(provider.type).steps;
  const answer = useAnswer('checkAuthProvider', {
    parameters: { frontdoorId: useFrontdoorId(), id: provider.id },
  });
  return (
    <Panel
      title={text.check}
      actions={
        <Button size="xs" variant="default" loading={answer.isFetching} onClick={() => void answer.refetch()}>
          {text.checkAgain}
        </Button>
      }
    >
      <AnswerView answer={answer}>
        {({ body }) => (
          <>
            <div role="status" className="fd-wrap">
              <Discovery check={body} type={provider.type} />
            </div>
            {body.callbackUrls.length === 0 ? null : (
              <>
                <p>{redirects ?? text.callbacks}</p>
                {may('changeAuthProvider') ? <p className="fd-soft">{text.testSignInWhy}</p> : null}
                <ul className="fd-plain">
                  {body.callbackUrls.map((address) => (
                    <li key={address}>
                      <CopyText value={address} /> <TestSignIn provider={provider} address={address} />
                    </li>
                  ))}
                </ul>
              </>
            )}
          </>
        )}
      </AnswerView>
    </Panel>
  );
}

/** A sign-in of the person's own, in a window of its own. The control plane shows what the provider sends. */
function TestSignIn(props: { readonly provider: ProviderAnswer; readonly address: string }): ReactNode {
  const text = useText(providersText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  if (!may('changeAuthProvider')) return null;
  const { provider, address } = props;
  const query = `callback=${encodeURIComponent(address)}`;
  return (
    <Button
      component="a"
      size="xs"
      variant="default"
      href={`${place.base}/sign-in-test/${frontdoorId}/${provider.id}?${query}`}
      target="_blank"
      rel="noopener"
    >
      {text.testSignIn}
    </Button>
  );
}

/** The result of the check of a provider of this type. */
export function Discovery({
  check: { discovery, problem },
  type,
}: {
  readonly check: ProviderDraftCheckAnswer;
  readonly type: string;
}): ReactNode {
  const text = useText(providersText);
  switch (discovery) {
    case 'ok':
      return <StateBadge tone="good">{text.checkOk}</StateBadge>;
    case 'failed':
      return (
        <>
          <StateBadge tone="bad">{text.checkFailed}</StateBadge>
          <p className="fd-mono">{problem}</p>
          <p>{text.checkFailedNext}</p>
        </>
      );
    case 'none':
      return <StateBadge tone="soft">{hasKeys(type) ? text.checkNone : text.checkNoMetadata}</StateBadge>;
    default:
      return <StateBadge tone="warn">{String(discovery)}</StateBadge>;
  }
}
