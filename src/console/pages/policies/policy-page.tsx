/** One shared policy: what it admits, the shares that use it, its rules, and its deletion. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { reloadOf } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { RuleSentences } from '../access/access-sentences.tsx';
import { rulesOfPolicy } from '../access/policy-draft.ts';
import { AssignToShares } from './assign-to-shares.tsx';
import { DeletePolicy } from './delete-policy.tsx';
import { policiesText } from './policies-text.ts';
import { PolicyForm } from './policy-form.tsx';
import { PolicyUses } from './policy-uses.tsx';

export function PolicyPage(): ReactNode {
  const text = useText(policiesText);
  const [frontdoorId, policyId] = [useFrontdoorId(), useParam('policyId')];
  const answer = useAnswer('getPolicy', { parameters: { frontdoorId, policyId } });
  return (
    <AnswerView answer={answer}>
      {(now) => (
        <>
          <PageTitle
            title={now.body.name}
            above={
              <Link to="/frontdoors/$frontdoorId/policies" params={{ frontdoorId }}>
                {text.policies}
              </Link>
            }
          >
            <AssignToShares policy={now.body} />
          </PageTitle>
          <Panel title={text.now}>
            <RuleSentences policy={rulesOfPolicy(now.body)} />
            <p className="fd-soft">{text.providersText}</p>
          </Panel>
          <PolicyUses id={now.body.id} shareCount={now.body.shareCount} />
          <PolicyForm key={now.body.id} now={now} reload={reloadOf(answer)} />
          <DeletePolicy policy={now.body} etag={now.etag} />
        </>
      )}
    </AnswerView>
  );
}
