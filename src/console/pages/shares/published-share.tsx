/** The finished address of a new share, and a line that shows when it works. */
import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { newShareText } from './new-share-text.ts';
import { accessCommand } from './share-draft.ts';

type Share = AnswerOf<'getShare'>;

export function PublishedShare(props: {
  readonly created: Share;
  readonly onAnother: () => void;
}): ReactNode {
  const text = useText(newShareText);
  const frontdoorId = useFrontdoorId();
  const { token } = props.created;
  const { data } = useAnswer('getShare', { parameters: { frontdoorId, token } });
  const share = data?.body ?? props.created;
  const params = { frontdoorId, token };
  return (
    <Panel>
      {share.frontendEndpoints.length > 0 ? (
        <>
          <p>{text.publishedAt}</p>
          {share.frontendEndpoints.map((url) => (
            <p key={url} className="fd-figure">
              <CopyText value={url} href={url} />
            </p>
          ))}
        </>
      ) : (
        <>
          <p>{text.publishedPrivate}</p>
          <CodeBlock label={text.command} code={accessCommand(share)} />
        </>
      )}
      <p role="status" className="fd-progress">
        <Progress share={share} />
      </p>
      <Group>
        <LinkButton to="/frontdoors/$frontdoorId/shares/$token" params={params}>
          {text.toShare}
        </LinkButton>
        <LinkButton variant="default" to="/frontdoors/$frontdoorId/shares/$token/access" params={params}>
          {text.toAccess}
        </LinkButton>
        <Button variant="default" onClick={props.onAnother}>
          {text.another}
        </Button>
      </Group>
    </Panel>
  );
}

function Progress({ share: { status, failure } }: { readonly share: Share }): ReactNode {
  const text = useText(newShareText);
  if (status === 'DEPLOYED') return <StateBadge tone="good">{text.works}</StateBadge>;
  if (status === 'PENDING') return <StateBadge tone="soft">{text.waits}</StateBadge>;
  if (status === 'FAILED')
    return <StateBadge tone="bad">{text.fails(failure?.lastError ?? status)}</StateBadge>;
  return <StateBadge tone="warn">{text.unknownState(status)}</StateBadge>;
}
