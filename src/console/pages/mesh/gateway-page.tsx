/** One gateway. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { ExactTime } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { MeshTitle } from './mesh-title.tsx';
import { NodeState } from './node-state.tsx';

export function GatewayPage(): ReactNode {
  const [text, common] = [useText(meshText), useText(partsText)];
  const id = useParam('gatewayId');
  const answer = useAnswer('getGateway', { parameters: { id } });
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <MeshTitle
            title={body.name}
            path="gateways"
            kind="gateway"
            operation="deleteGateway"
            input={{ parameters: { id }, ifMatch: etag }}
            question={text.deleteGateway}
            typed={body.name}
          >
            {text.deleteGatewayText}
          </MeshTitle>
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
