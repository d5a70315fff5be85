/** Who may come in to a share: its log-ins and its policy, or its grants if it is private; and who can reach it. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { reloadOf } from '../../parts/use-edit.ts';
import { PublicAccess } from './public-access.tsx';
import { ShareGrants } from './share-grants.tsx';

export function AccessPage(): ReactNode {
  const parameters = { frontdoorId: useFrontdoorId(), token: useParam('token') };
  const share = useAnswer('getShare', { parameters });
  const isPublic = share.data !== undefined && share.data.body.shareMode !== 'private';
  const policy = useAnswer('getSharePolicy', { parameters }, { enabled: isPublic });
  return (
    <AnswerView answer={share}>
      {(read) =>
        read.body.shareMode === 'private' ? (
          <ShareGrants key={read.body.token} now={read} reload={reloadOf(share)} />
        ) : (
          <AnswerView answer={policy}>
            {(readPolicy) => (
              <PublicAccess
                key={read.body.token}
                share={read}
                reloadShare={reloadOf(share)}
                policy={readPolicy}
                reloadPolicy={reloadOf(policy)}
              />
            )}
          </AnswerView>
        )
      }
    </AnswerView>
  );
}
