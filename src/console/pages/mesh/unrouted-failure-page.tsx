/** Why a request to a host without a share failed. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { useText } from '../../text/language.tsx';
import { FailureFacts } from '../failures/failure-facts.tsx';
import { meshText } from './mesh-text.ts';

export function UnroutedFailurePage(): ReactNode {
  const text = useText(meshText);
  const errorId = useParam('errorId');
  const answer = useAnswer('getUnroutedFailure', { parameters: { errorId } });
  return (
    <>
      <PageTitle title={text.failure(errorId)} />
      <AnswerView answer={answer}>
        {({ body }) => (
          <>
            <Panel>
              <Facts facts={[[text.answeredBy, body.gatewayName]]} />
            </Panel>
            <FailureFacts failure={body} />
          </>
        )}
      </AnswerView>
    </>
  );
}
