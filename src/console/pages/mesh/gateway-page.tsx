/** One gateway. */
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { ExactTime } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { NodeState } from './node-state.tsx';

export function GatewayPage(): ReactNode {
  const [text, common] = [useText(meshText), useText(partsText)];
  const navigate = useNavigate();
  const id = useParam('gatewayId');
  const answer = useAnswer('getGateway', { parameters: { id } });
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <PageTitle title={body.name} above={<Link to="/mesh/gateways">{text.gateways}</Link>}>
            <DeleteButton
              operation="deleteGateway"
              kind="gateway"
              input={{ parameters: { id }, ifMatch: etag }}
              label={text.delete}
              title={text.deleteGateway}
              typed={body.name}
              onDeleted={() => void navigate({ to: '/mesh/gateways' })}
            >
              <p>{text.deleteGatewayText}</p>
            </DeleteButton>
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
        </>
      )}
    </AnswerView>
  );
}
