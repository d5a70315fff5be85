/** Why one request to a share failed, and the way to the share. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useText } from '../../text/language.tsx';
import { FailureFacts } from './failure-facts.tsx';
import { failuresText } from './failures-text.ts';

export function FailurePage(): ReactNode {
  const text = useText(failuresText);
  const [frontdoorId, errorId] = [useFrontdoorId(), useParam('errorId')];
  const answer = useAnswer('getFailure', { parameters: { frontdoorId, errorId } });
  return (
    <>
      <PageTitle
        title={text.failure(errorId)}
        above={
          <Link to="/frontdoors/$frontdoorId/failures" params={{ frontdoorId }}>
            {text.failures}
          </Link>
        }
      />
      <AnswerView answer={answer}>
        {({ body }) => (
          <>
            <FailureFacts failure={body} />
            {body.shareToken === null ? null : (
              <Ways frontdoorId={frontdoorId} token={body.shareToken} client={body.client} />
            )}
          </>
        )}
      </AnswerView>
    </>
  );
}

function Ways(props: {
  readonly frontdoorId: string;
  readonly token: string;
  readonly client: string;
}): ReactNode {
  const { frontdoorId, token, client } = props;
  const text = useText(failuresText);
  const params = { frontdoorId, token };
  return (
    <Panel>
      <p>
        <Link to="/frontdoors/$frontdoorId/shares/$token" params={params}>
          {text.toShare}
        </Link>
      </p>
      <p>
        <Link to="/frontdoors/$frontdoorId/shares/$token/access" params={params}>
          {text.toAccess}
        </Link>
      </p>
      <p>
        <Link to="/frontdoors/$frontdoorId/requests" params={{ frontdoorId }} search={{ client }}>
          {text.ofClient}
        </Link>
      </p>
    </Panel>
  );
}
