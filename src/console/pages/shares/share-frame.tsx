/** The frame of the pages of one share: its name, its state, and the way to the other pages. */
import { Link, Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import { useText } from '../../text/language.tsx';
import { ShareState } from './share-state.tsx';
import { sharesText } from './shares-text.ts';

/** The share in the address. */
export function useShare() {
  return useAnswer('getShare', { parameters: { frontdoorId: useFrontdoorId(), token: useParam('token') } });
}

/** Nothing of one share stays on the screen when the address names another. */
export function ShareFrame(): ReactNode {
  return <FrameOfOne key={useParam('token')} />;
}

function FrameOfOne(): ReactNode {
  const text = useText(sharesText);
  const [frontdoorId, token] = [useFrontdoorId(), useParam('token')];
  const base = `/frontdoors/${frontdoorId}/shares/${encodeURIComponent(token)}`;
  return (
    <AnswerView answer={useShare()}>
      {({ body: share }) => (
        <>
          <PageTitle
            title={share.name ?? share.token}
            above={
              <Link to="/frontdoors/$frontdoorId/shares" params={{ frontdoorId }}>
                {text.shares}
              </Link>
            }
          >
            <ShareState status={share.status} access={share.access} />
          </PageTitle>
          <PageTabs
            label={text.pagesOfShare}
            tabs={[
              [base, text.overview, true],
              [`${base}/access`, text.access],
              [`${base}/requests`, text.requests],
              [`${base}/traffic`, text.traffic],
              [`${base}/service`, text.service],
              [`${base}/domains`, text.domains],
              [`${base}/settings`, text.settings],
            ]}
          />
          <Outlet />
        </>
      )}
    </AnswerView>
  );
}
