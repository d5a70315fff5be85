/** One gateway. */
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { ExactTime } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { NodeState } from './node-list.tsx';

export function GatewayPage(): ReactNode {
  const [text, common] = [useText(meshText), useText(partsText)];
  const navigate = useNavigate();
  const id = useParam('gatewayId');
  const answer = useAnswer('getGateway', { parameters: { id } });
  const [isDeleting, setDeleting] = useState(false);
  const { mutate, error, isPending } = useChange('deleteGateway', {
    refreshes: ['gateway'],
    onDone: () => void navigate({ to: '/mesh/gateways' }),
  });
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <PageTitle title={body.name} above={<Link to="/mesh/gateways">{text.gateways}</Link>}>
            <Button color="red" onClick={() => setDeleting(true)}>
              {text.delete}
            </Button>
          </PageTitle>
          <Panel>
            <Facts
              facts={[
                [text.state, <NodeState key="state" node={body} />],
                [text.id, <CopyText key="id" value={body.id} />],
                [text.version, body.version ?? common.notKnown],
                [text.created, <ExactTime key="created" at={body.createdAt} />],
              ]}
            />
          </Panel>
          <ConfirmDialog
            title={text.deleteGateway}
            isOpen={isDeleting}
            onClose={() => setDeleting(false)}
            action={text.delete}
            typed={body.name}
            error={error}
            isPending={isPending}
            onConfirm={() => mutate({ parameters: { id }, ifMatch: etag })}
          >
            <p>{text.deleteGatewayText}</p>
          </ConfirmDialog>
        </>
      )}
    </AnswerView>
  );
}
